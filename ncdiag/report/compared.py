"""Differences between hosts, and from a saved state, as lines for people: the outliers are named first."""

from __future__ import annotations

from collections.abc import Sequence

from ncdiag.base.severity import Weight
from ncdiag.language import cells, counted, say
from ncdiag.report.differences import FINDING, NOT_FOUND, Beside, Change, Comparison, Share
from ncdiag.report.model import Report
from ncdiag.report.page import Page
from ncdiag.report.table import silent

STYLES: dict[Weight, str] = {"high": "bold red", "medium": "yellow", "low": "dim"}
_HEADING = "{hosts} compared: {things} equal, {n} differ"
_DIFFER = "{things} differ from the baseline {source}; {n} equal"
_DIFFERS = "{things} differs from the baseline {source}; {n} equal"
GROUPS = 4
"""Maximum number of groups of a comparison that are named."""
VALUE, HOSTS, WHY, TITLE = 60, 60, 120, 160
"""Maximum length of a value, a set of hosts, a reason and a title, in characters."""


def heading(report: Report) -> str:
    """``12 hosts compared: 268 things alike, 10 differ``; empty if nothing was compared."""
    if not report.comparison and not report.alike:
        return ""
    number = _hosts(report)
    hosts, differ = counted(number, "host"), len(report.comparison)
    template = "{hosts} compared: {things} equal, {n} differs" if differ == 1 else _HEADING
    return say(template, hosts=hosts, things=counted(report.alike, "thing"), n=differ)


def _hosts(report: Report) -> int:
    """The number of hosts that were compared: those that answered."""
    if report.comparison:
        return max(_seen(one) + one.not_seen.nhosts for one in report.comparison)
    return (report.summary.nhosts or len(report.inputs)) - len(silent(report))


def _seen(one: Comparison) -> int:
    return sum(share.nhosts for share in one.groups.values())


def line(one: Comparison, *, short: bool = False) -> str:
    """``GPU driver: n7 (1) 535.104.05; the other 99: 550.54.15``; ``short`` does not name the others."""
    named = list(one.groups.items())[:GROUPS]
    parts = []
    for value, share in named:
        usual = bool(one.odd) and value not in one.odd
        who = say("the other {n}:", n=share.nhosts) if usual and short else _who(share)
        parts.append(f"{who} {cut(value)}")
    more = len(one.groups) - len(named)
    parts += [say("{n} more values", n=more)] if more else []
    parts += [say("not seen on {who}", who=_who(one.not_seen))] if one.not_seen.nhosts and not short else []
    return say("{label}: {text}", label=_what(one), text=say("; ").join(parts))


def change(one: Change) -> str:
    """``GPU driver on n[3,7] (2): 550.54.15, now 535.104.05``."""
    is_finding = one.what == FINDING
    what = one.name if is_finding else _what(one)
    if one.hosts:
        what = say("{what} on {host}", what=what, host=_who(Share(one.hosts, one.nhosts)))
    if is_finding:
        is_new = one.before == NOT_FOUND
        text = say("{label}: {text}", label=what, text=cut(one.after if is_new else one.before, TITLE))
        return say("{label}: {text}", label=say("new") if is_new else say("gone"), text=text)
    share = f" ({one.change:+.0%})" if one.change is not None else ""
    text = say("{before}, now {after}", before=cut(one.before), after=f"{cut(one.after)}{share}")
    return say("{label}: {text}", label=what, text=text)


def beside_heading(found: Beside) -> str:
    """``2 things differ from the baseline good.tar.gz; 130 are equal``."""
    count = len(found.changes)
    if not count:
        nothing = "Nothing differs from the baseline {source}; {things} compared"
        return say(nothing, source=found.source, things=counted(found.equal, "thing"))
    template = _DIFFERS if count == 1 else _DIFFER
    return say(template, things=counted(count, "thing"), source=found.source, n=found.equal)


def write(page: Page, report: Report) -> None:
    """All differences between hosts, and from the baseline."""
    if heading(report):
        page.put(heading(report), "bold")
    for one in report.comparison:
        page.put(line(one), first=f"  {cells.pad(say(one.weight), 6)}  ", lead=STYLES[one.weight])
    if report.baseline is not None:
        page.put(beside_heading(report.baseline), "bold")
        for each in report.baseline.changes:
            page.put(change(each), first=f"  {cells.pad(say(each.weight), 6)}  ", lead=STYLES[each.weight])
    page.blank()


def write_short(page: Page, report: Report, most: int) -> None:
    """The most important differences, each cut to one row; only their number if ``most`` is 0."""
    if heading(report):
        page.line(heading(report), "bold")
        _some(page, [line(one, short=True) for one in report.comparison], most)
    if report.baseline is not None:
        page.line(beside_heading(report.baseline), "bold")
        _some(page, [change(one) for one in report.baseline.changes], most)


def _some(page: Page, lines: Sequence[str], most: int) -> None:
    for text in lines[:most]:
        page.line(text, first="  ")
    if len(lines) > most > 0:
        page.line(say("and {n} more", n=len(lines) - most), first="  ")


def cut(text: str, most: int = VALUE) -> str:
    """The text, cut where it is long."""
    return text if len(text) <= most else f"{text[:most]} ..."


def _what(one: Comparison | Change) -> str:
    return f"{say(one.what)} {cut(one.name)}".rstrip()


def _who(share: Share) -> str:
    return say("{text} ({note})", text=cut(share.hosts, HOSTS), note=share.nhosts)
