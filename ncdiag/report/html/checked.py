"""The checks of ``check``, the differences between hosts, and those from a saved state, as tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ncdiag.language import phrase, say
from ncdiag.report import compared, table
from ncdiag.report.differences import FINDING, NOT_FOUND, Change, Comparison, Share
from ncdiag.report.html.context import Context
from ncdiag.report.html.drawing import scrolled
from ncdiag.report.html.element import Child, Element, element

_GROUPS = 12
"""Maximum number of values of one comparison that are listed."""
_ROWS = 200
"""Maximum number of differences that are listed."""


def looks(context: Context) -> Element | None:
    """The table of checks; None if nothing was checked."""
    report = context.report
    if not report.looks:
        return None
    rows: list[Element] = []
    for title, found in table.areas(report):
        rows.append(element("tr", element("th", title, scope="rowgroup", colspan="3"), class_="area"))
        rows += [
            element(
                "tr",
                element("td", element("span", row.status, class_=f"status {row.status.lower()}")),
                element("th", row.what, scope="row"),
                element("td", row.text),
            )
            for row in found
        ]
    title = say("{label}: {text}", label=say("Checks"), text=table.counts(report))
    return _section(context, title, [_table(say("Checks"), (say("Result"), say("Check"), say("Seen")), rows)])


def differences(context: Context) -> Element | None:
    """The differences between hosts; None if none were compared."""
    report = context.report
    title = compared.heading(report)
    if not title:
        return None
    rows = [_compared(one) for one in report.comparison[:_ROWS]]
    head = (say("Weight"), say("What"), say("Values by host"), say("Why it matters"))
    shown = _table(say("Hosts compared"), head, rows) if rows else None
    return _section(context, title, [shown, _more(len(report.comparison))])


def beside(context: Context) -> Element | None:
    """The differences from a saved state; None without one."""
    found = context.report.baseline
    if found is None:
        return None
    return _section(context, compared.beside_heading(found), changes(found.changes))


def changes(found: tuple[Change, ...]) -> Iterator[Child]:
    """The changes between two states, as a table."""
    head = (say("Weight"), say("What"), say("Before"), say("Now"), say("Where"), say("Why it matters"))
    if found:
        yield _table(say("Changes"), head, [_changed(one) for one in found[:_ROWS]])
        yield _more(len(found))


def _changed(one: Change) -> Element:
    what = one.name if one.what == FINDING else _what(one)
    if NOT_FOUND in {one.before, one.after}:
        what = say("{text} ({note})", text=what, note=say("new" if one.before == NOT_FOUND else "gone"))
    share = f" ({one.change:+.0%})" if one.change is not None else ""
    return element(
        "tr",
        _weight(one.weight),
        element("th", what, scope="row"),
        element("td", _value(one.before)),
        element("td", f"{_value(one.after)}{share}"),
        element("td", _who(Share(one.hosts, one.nhosts)) if one.hosts else say("the job")),
        element("td", phrase(one.why)),
    )


def _compared(one: Comparison) -> Element:
    named = list(one.groups.items())
    values = [
        element(
            "li", element("code", value, class_="odd" if value in one.odd else None), " ",
            element("span", _who(share), class_="quiet"),
        )
        for value, share in named[:_GROUPS]
    ]  # fmt: skip
    more = len(named) - len(values)
    values += [element("li", say("and {n} more values", n=more))] if more > 0 else []
    values += [element("li", say("not seen on {who}", who=_who(one.not_seen)))] if one.not_seen.nhosts else []
    return element(
        "tr",
        _weight(one.weight),
        element("th", _what(one), scope="row"),
        element("td", element("ul", *values, class_="values")),
        element("td", one.why),
    )


def _what(one: Change | Comparison) -> str:
    return f"{say(one.what)} {one.name}".rstrip()


def _value(text: str) -> str:
    return say(text) if text == NOT_FOUND else text


def _who(share: Share) -> str:
    return say("{text} ({note})", text=compared.cut(share.hosts, compared.TITLE), note=share.nhosts)


def _weight(weight: str) -> Element:
    return element("td", element("span", say(weight), class_=f"status {weight}"))


def _more(count: int) -> Element | None:
    return element("p", say("and {n} more", n=count - _ROWS), class_="quiet") if count > _ROWS else None


def _table(label: str, head: Iterable[str], rows: Iterable[Element]) -> Element:
    """A table that scrolls by itself on a narrower screen."""
    columns = element("thead", element("tr", *(element("th", name, scope="col") for name in head)))
    shown = element("table", columns, element("tbody", *rows))
    return scrolled(label, shown)


def _section(context: Context, title: str, parts: Iterable[Child]) -> Element:
    heading = context.fresh("table")
    return element("section", element("h2", title, id=heading), *parts, class_="card", aria_labelledby=heading)
