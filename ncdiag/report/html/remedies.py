"""Fixes: what to do, the lines to paste for each launcher, and how to confirm it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ncdiag.language import say
from ncdiag.report import digest
from ncdiag.report.html.context import Context
from ncdiag.report.html.element import Child, Element, element, group
from ncdiag.report.model import Fix

SHELL = "shell"
LONG = 300
"""Minimum length of a note that is folded."""
TABS = 10
"""Maximum number of launchers as tabs of the style sheet; more are shown one below the other."""


def fixes(context: Context, shown: Sequence[Fix], not_offered: Sequence[str], *, suspected: bool = False) -> Element:
    """All fixes, and those that would not help; ``suspected``: they are those of a suspect."""
    refused = [_note(say("Does not help"), text) for text in not_offered]
    return group(*(_fix(context, fix, suspected=suspected) for fix in shown), *refused)


def _fix(context: Context, fix: Fix, *, suspected: bool) -> Element:
    return element(
        "div",
        element("p", digest.fix_title(fix), class_="do"),
        *_to_paste(context, fix),
        *(_note(label, text) for label, text in digest.fix_notes(fix, suspected=suspected)),
        class_="fix",
    )


def _note(label: str, text: str) -> Element:
    """A note on a fix; folded if it is long."""
    if len(text) > LONG:
        return element("details", element("summary", label), element("p", text, class_="note"))
    return element("p", element("strong", label + say(": ")), text, class_="note")


def _to_paste(context: Context, fix: Fix) -> Iterator[Element]:
    """The lines to paste into a launcher, and commands for a shell."""
    launchers = {name: text for name, text in fix.commands.items() if name != SHELL}
    if len(launchers) == 1 or len(launchers) > TABS:
        yield from (_pasted(name, text) for name, text in launchers.items())
    elif launchers:
        yield _tabs(context, launchers)
    if SHELL in fix.commands:
        yield _pasted(SHELL, fix.commands[SHELL])
    if not fix.commands and (lines := digest.paste_lines(fix)):
        for label in dict.fromkeys(label for label, _ in lines):
            yield _pasted(label, "\n".join(line for name, line in lines if name == label))


def _tabs(context: Context, launchers: dict[str, str]) -> Element:
    """One launcher at a time, chosen by radio buttons, which need no script; all of them in print."""
    name = context.fresh("launcher")
    buttons: list[Child] = []
    for number, launcher in enumerate(launchers):
        buttons += [
            element("input", type="radio", name=name, id=f"{name}-{number}", checked=number == 0),
            element("label", launcher, for_=f"{name}-{number}"),
        ]
    panels = [_pasted(launcher, text) for launcher, text in launchers.items()]
    return element(
        "fieldset",
        element("legend", say("Lines to paste, by launcher"), class_="hidden"),
        *buttons,
        *panels,
        class_="tabs",
    )


def _pasted(label: str, text: str) -> Element:
    lines: list[Child] = []
    for line in text.split("\n"):
        lines += ["" if not lines else element("br"), line]
    return element(
        "div", element("p", label, class_="launcher"), element("pre", element("code", *lines)),
        class_="paste",
    )  # fmt: skip
