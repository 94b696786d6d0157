"""The table of looks as people read it: a line for each, and for all hosts that came to the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple, Protocol

from ncdiag.looks.book import book, launch_book
from ncdiag.report.model import Look, Report, Status

STYLES: dict[Status, str] = {"PASS": "green", "WARN": "yellow", "FAIL": "bold red", "SKIP": "dim"}
SEEN_LIMIT = 160
"""Characters of a value that are shown."""
VALUES = 3
"""Values of one look on several hosts that are shown."""


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
    titles = {area.name: area.title for area in (*book().area, *launch_book().area)}
    several = len({look.host for look in report.looks if look.host}) > 1 or any(k.nhosts > 1 for k in report.looks)
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
    """A line for each value of a look; of many values that came to the same, one line in all."""
    alike: dict[tuple[str, Status], list[Look]] = {}
    for look in looks:
        alike.setdefault((look.what, look.status), []).append(look)
    for (what, status), found in alike.items():
        if several and len(found) > VALUES:
            hosts = sum(look.nhosts for look in found)
            yield Row(status, f"{what} on {hosts} hosts", f"{_text(found[0])}; {len(found) - 1} other values")
            continue
        for look in found:
            yield Row(status, f"{what} on {look.host}" if several and look.host else what, _text(look))


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
