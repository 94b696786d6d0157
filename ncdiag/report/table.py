"""The table of checks for people: one line per check, and one for all hosts with the same result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple, Protocol

from ncdiag.base.patterns import lazy_regex
from ncdiag.checks.book import book, launch_book
from ncdiag.facts.fold import fold_hosts, unfold_hosts
from ncdiag.language import say
from ncdiag.report.model import Look, Report, Status

STYLES: dict[Status, str] = {"PASS": "green", "WARN": "yellow", "FAIL": "bold red", "SKIP": "dim"}
_TWICE = lazy_regex(r"^(\w+) failed: (?=\1: )")
"""``ssh failed: ssh: ...``: the program says its name itself."""
HOSTS = 30
"""Maximum length of a set of hosts in characters."""
SEEN_LIMIT = 160
"""Maximum length of a value in characters."""
UNANSWERED = "host-unanswered"
"""The name of the rule for hosts that did not answer."""
VALUES = 3
"""Maximum number of values of one check on several hosts."""


class Row(NamedTuple):
    """A line: ``text`` is the value, the expected value, and what is wrong or why it was skipped."""

    status: Status
    what: str
    text: str


class Page(Protocol):
    """The page to which the lines are written (`ncdiag.report.text`)."""

    def blank(self) -> None:
        """End a part."""

    def put(self, text: str, style: str = "", *, first: str = "", rest: str | None = None, lead: str = "") -> None:
        """Write a line, wrapped."""


def areas(report: Report) -> Iterator[tuple[str, list[Row]]]:
    """The title and the lines of each area that has lines."""
    titles = {area.name: area.title for area in (*book().area, *launch_book().area)}
    several = len({look.host for look in report.looks if look.host}) > 1 or any(k.nhosts > 1 for k in report.looks)
    for area, looks in groupby(report.looks, key=lambda look: look.area):
        yield say(titles.get(area, area)), list(_rows(list(looks), several=several))


def counts(report: Report) -> str:
    """``31 PASS, 1 FAIL, 9 SKIP``, the numbers of lines."""
    found = [row.status for _, rows in areas(report) for row in rows]
    return ", ".join(f"{found.count(status)} {status}" for status in STYLES if status in found)


def failed(report: Report) -> list[Row]:
    """The lines that are FAIL or WARN, the former first, without the root cause and hosts that did not answer.

    A finding that is not the result of a check is one line, its title.
    """
    shown, dead = {UNANSWERED, report.summary.root_cause}, silent(report)
    looks = [
        look for look in report.looks
        if look.status in {"FAIL", "WARN"} and not (look.findings and set(look.findings) <= shown)
        and (not look.host or not set(unfold_hosts(look.host.replace(" ", ""))) <= dead)
    ]  # fmt: skip
    rows: list[Row] = []
    for own, found in groupby(looks, key=_is_finding):
        if own:
            rows += [Row(look.status, look.host if look.host not in look.why else "", look.why) for look in found]
        else:
            rows += _rows(list(found), several=True)
    return [row for status in ("FAIL", "WARN") for row in rows if row.status == status]


def _is_finding(look: Look) -> bool:
    """True for a line of a finding that no check names."""
    return [name.replace("-", " ") for name in look.findings] == [look.what]


def unanswered(report: Report) -> list[tuple[str, str]]:
    """(hosts, why) of the hosts that were asked and did not answer; hosts with the same reason are one entry."""
    found: dict[str, dict[str, str]] = {}
    for finding in report.findings:
        for host in unfold_hosts(finding.hosts) if finding.name == UNANSWERED else ():
            why = _TWICE.sub("", finding.title.partition(say(": "))[2] or finding.title)
            found.setdefault(why.replace(host, "<host>"), {})[host] = why
    return [(fold_hosts(of), next(iter(of.values())) if len(of) == 1 else why) for why, of in found.items()]


def silent(report: Report) -> set[str]:
    """The hosts that did not answer."""
    return {host for each in report.findings if each.name == UNANSWERED for host in unfold_hosts(each.hosts)}


def write(page: Page, report: Report, *, skipped: bool = True) -> None:
    """The table below the findings; without ``skipped``, the lines that are SKIP are only counted, in one line."""
    page.blank()
    page.put(say("{label}: {text}", label=say("Checks"), text=counts(report)), "bold")
    left_out = 0
    for title, rows in areas(report):
        shown = [row for row in rows if skipped or row.status != "SKIP"]
        left_out += len(rows) - len(shown)
        if shown:
            page.put(title, "bold", first="  ")
        for row in shown:
            page.put(
                say("{label}: {text}", label=row.what, text=row.text),
                first=f"    {row.status}  ",
                lead=STYLES[row.status],
            )
    if left_out:
        page.put(say("{n} skipped: not present or not seen (-v lists them)", n=left_out), "dim", first="  ")
    page.blank()


def _rows(looks: Sequence[Look], *, several: bool) -> Iterator[Row]:
    """One line per value of a check; one line for all hosts if there are many values with the same status."""
    alike: dict[tuple[str, Status], list[Look]] = {}
    for look in looks:
        alike.setdefault((look.what, look.status), []).append(look)
    for (what, status), found in alike.items():
        if several and len(found) > VALUES:
            label = _on(what, found)
            yield Row(status, label, say("{text}; {n} other values", text=_text(found[0]), n=len(found) - 1))
            continue
        for look in found:
            label = say("{what} on {host}", what=what, host=look.host) if several and look.host else what
            yield Row(status, label, _text(look))


def _on(what: str, looks: Sequence[Look]) -> str:
    """The check with its hosts folded; their number if they are too long for a line."""
    names = {host for look in looks for host in unfold_hosts(look.host.replace(" ", ""))}
    folded = fold_hosts(names)
    if len(folded) <= HOSTS:
        return say("{what} on {host}", what=what, host=folded)
    return say("{what} on {n} hosts", what=what, n=len(names))


def _text(look: Look) -> str:
    seen = look.seen if len(look.seen) <= SEEN_LIMIT else f"{look.seen[:SEEN_LIMIT]} ..."
    if look.status == "SKIP":
        if not seen:
            return f"({look.why})"
        return say("{text} ({note})", text=seen, note=say("not compared: {reason}", reason=look.why))
    expected = say("expected {value}", value=look.expected)
    if look.status == "PASS":
        notes = [say("note: {names}", names=", ".join(look.findings))] if look.findings else []
        text = say("{text} ({note})", text=seen, note=look.why) if look.why else seen
        return say("; ").join([text, expected, *notes])
    told = (look.why, say("seen {value}", value=seen) if seen else "", expected if look.expected else "")
    return say("; ").join(filter(None, told))
