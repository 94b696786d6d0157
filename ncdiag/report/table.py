"""The table of looks as people read it: a line for each, with hosts that came to the same folded into one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple, Protocol

from ncdiag.facts.fold import fold_hosts
from ncdiag.looks.book import book
from ncdiag.report.model import Look, Report, Status

STYLES: dict[Status, str] = {"PASS": "green", "WARN": "bold yellow", "FAIL": "bold red", "SKIP": "dim"}
SEEN_LIMIT = 160
"""Characters of a value that are shown."""


class Row(NamedTuple):
    """A line: ``text`` is the value seen, what it should be, and what is wrong or why it was skipped."""

    status: Status
    what: str
    text: str


class Page(Protocol):
    """Where the lines go (`ncdiag.report.text`)."""

    def blank(self) -> None:
        """End a part."""

    def put(self, text: str, style: str = "", *, first: str = "", rest: str | None = None, lead: str = "") -> None:
        """Write a line, wrapped."""


def areas(report: Report) -> Iterator[tuple[str, list[Row]]]:
    """The title of each area that has lines, and the lines."""
    titles = {area.name: area.title for area in book().area}
    several = len({look.host for look in report.looks if look.host}) > 1
    for area, looks in groupby(report.looks, key=lambda look: look.area):
        yield titles.get(area, area), list(_rows(list(looks), several=several))


def counts(report: Report) -> str:
    """``31 PASS, 1 FAIL, 9 SKIP``, the lines counted."""
    found = [row.status for _, rows in areas(report) for row in rows]
    return ", ".join(f"{found.count(status)} {status}" for status in STYLES if status in found)


def write(page: Page, report: Report) -> None:
    """The table below the findings."""
    page.blank()
    page.put(f"Looked at: {counts(report)}", "bold")
    for title, rows in areas(report):
        page.put(title, "bold", first="  ")
        for row in rows:
            page.put(f"{row.what}: {row.text}", first=f"    {row.status}  ", lead=STYLES[row.status])
    page.blank()


def _rows(looks: Sequence[Look], *, several: bool) -> Iterator[Row]:
    alike: dict[tuple[str, Status, str], list[str]] = {}
    for look in looks:
        alike.setdefault((look.what, look.status, _text(look)), []).append(look.host)
    for (what, status, text), hosts in alike.items():
        named = [host for host in hosts if host]
        where = f" on {fold_hosts(named)}" if several and named else ""
        yield Row(status, f"{what}{where}", text)


def _text(look: Look) -> str:
    seen = look.seen if len(look.seen) <= SEEN_LIMIT else f"{look.seen[:SEEN_LIMIT]} ..."
    if look.status == "SKIP":
        return f"{seen} (not compared: {look.why})" if seen else f"({look.why})"
    if look.status == "PASS":
        notes = f"; note: {', '.join(look.findings)}" if look.findings else ""
        why = f" ({look.why})" if look.why else ""
        return f"{seen}{why}; expected {look.expected}{notes}"
    told = (look.why, f"seen {seen}" if seen else "", f"expected {look.expected}" if look.expected else "")
    return "; ".join(filter(None, told))
