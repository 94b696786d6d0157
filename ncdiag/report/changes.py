"""The answer of ``ncdiag diff``: as text, as JSON, as Markdown and as a page."""

from __future__ import annotations

import json as to_json
from collections.abc import Callable, Iterator

import msgspec

from ncdiag.base.errors import UsageError
from ncdiag.base.severity import Weight
from ncdiag.language import cells, counted, phrase, say
from ncdiag.report import compared, digest, labelled
from ncdiag.report.differences import Change
from ncdiag.report.markdown import inline
from ncdiag.report.model import Difference, Side
from ncdiag.report.page import Page
from ncdiag.report.sanitize import json_escapes

SHOWN, ROWS = 15, 4
"""Maximum number of differences on one screen, and of one kind among them (sizes of a test, pairs of devices)."""
_WEIGHTS: dict[Weight, str] = {
    "high": "Most important", "medium": "May make the job slow or unreliable", "low": "Worth knowing",
}  # fmt: skip
Renderer = Callable[..., str]


def renderer(name: str) -> Renderer:
    """``render(found, *, width, whole)`` of a format. Raises UsageError for an unknown name."""
    known: dict[str, Renderer] = {"text": text, "html": html, "json": json, "markdown": markdown}
    if name not in known:
        msg = f"there is no format {name!r}; the formats are {', '.join(known)}"
        raise UsageError(msg)
    return known[name]


def text(found: Difference, *, width: int = 80, whole: bool = False) -> str:
    """For a terminal: one screen, or (``whole``) everything."""
    page = Page(width)
    for label, side in (("Before", found.before), ("After", found.after)):
        page.line(_side(side), first=f"{cells.pad(say(label), 8)}")
    page.blank()
    page.put(headline(found), "bold")
    for label, said in ends(found):
        page.put(said, first=f"  {label}{say(': ')}", rest="    ")
    for weight, changes in _by_weight(found):
        page.blank()
        page.put(say(_WEIGHTS[weight]), compared.STYLES[weight])
        _changes(page, changes, whole=whole)
    page.blank()
    page.put(_counts(found), "dim")
    return page.plain()


def _changes(page: Page, changes: list[Change], *, whole: bool) -> None:
    shown: dict[str, int] = {}
    left = 0
    for number, one in enumerate(changes):
        shown[one.what] = shown.get(one.what, 0) + 1
        if not whole and (number >= SHOWN or shown[one.what] > ROWS):
            left += 1
            continue
        page.put(compared.change(one), first="  ", rest="      ")
        if one.why and whole:
            page.put(digest.cut(phrase(one.why), compared.WHY), "dim", first="      ")
    if left:
        page.put(say("and {n} more (add -v)", n=left), first="  ")


def ends(found: Difference) -> Iterator[tuple[str, str]]:
    """(label, text) of each line that differs at the end of the two runs; nothing where that was not asked for."""
    return iter(()) if found.lines is None else labelled.changes(found.lines, "the ends of the two do not differ")


def json(found: Difference, **_: object) -> str:
    """For programs; see docs/reports.md."""
    return json_escapes(to_json.dumps(msgspec.to_builtins(found), ensure_ascii=False, indent=1)) + "\n"


def html(found: Difference, **_: object) -> str:
    """A complete HTML page."""
    from ncdiag.report.html.difference import page

    parts = ((say(_WEIGHTS[weight]), some) for weight, some in _by_weight(found))
    return page(
        found, headline(found), [*(f"{label}{say(': ')}{said}" for label, said in ends(found)), _counts(found)], parts
    )


def markdown(found: Difference, **_: object) -> str:
    """For a ticket."""
    lines = [f"**{inline(headline(found))}**", ""]
    sides = ("Before", found.before), ("After", found.after)
    lines += [f"- {say(label)}: {inline(_side(side))}" for label, side in sides] + [""]
    if found.lines is not None:
        lines += [f"- {label}{say(': ')}{inline(said)}" for label, said in ends(found)] + [""]
    columns = f"| {say('what')} | {say('where')} | {say('before')} | {say('after')} |"
    for weight, changes in _by_weight(found):
        lines += [f"**{say(_WEIGHTS[weight])}**", "", columns, "| --- | --- | --- | --- |"]
        lines += [f"| {' | '.join(map(inline, _cells(one)))} |" for one in changes] + [""]
    return "\n".join([*lines, inline(_counts(found)), ""])


def headline(found: Difference) -> str:
    """``3 things that matter differ``."""
    count = sum(one.weight != "low" for one in found.changes)
    if not found.changes:
        return say("Nothing differs") if found.equal else say("Nothing could be compared")
    if not count:
        return say("No important differences")
    template = "{things} differs in an important way" if count == 1 else "{things} differ in important ways"
    return say(template, things=counted(count, "thing"))


def _cells(one: Change) -> tuple[str, str, str, str]:
    share = f" ({one.change:+.0%})" if one.change is not None else ""
    return f"{say(one.what)} {one.name}".rstrip(), one.hosts, compared.cut(one.before), compared.cut(one.after) + share


def _by_weight(found: Difference) -> Iterator[tuple[Weight, list[Change]]]:
    for weight in _WEIGHTS:
        changes = [one for one in found.changes if one.weight == weight]
        if changes:
            yield weight, changes


def _side(side: Side) -> str:
    read = [side.hosts] if side.hosts else []
    read += [counted(side.nranks, "rank")] if side.nranks is not None else []
    read += [f"NCCL {side.nccl_version}"] if side.nccl_version else []
    text = say("; ").join((say(", ").join(read) or say("no host"), say(digest.HEADLINES[side.verdict])))
    return say("{label}: {text}", label=side.source, text=text)


def _counts(found: Difference) -> str:
    parts = [say("{things} equal", things=counted(found.equal, "thing"))]
    parts += [say("{n} seen in only one of the two", n=found.one_sided)] if found.one_sided else []
    return say("; ").join(parts)
