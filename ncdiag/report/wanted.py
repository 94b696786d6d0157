"""What to provide next for a symptom whose cause was not found: outputs that its rule asks for and that are missing.

Nothing is asked for that was read: of a question that an output in the input decides, the line is named instead.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from ncdiag.engine.results import Finding
from ncdiag.language import say
from ncdiag.report import model


def wanted(found: Finding, rest_of: Callable[[str], str]) -> tuple[model.Wanted, ...]:
    """The outputs that the rule of an unexplained symptom asks for; ``rest_of`` gives those that are not in the input.

    Asks about a single condition are left out: they are for rules that could not be judged, and this one could.
    """
    if found.role != "symptom" or found.severity == "info" or found.explained_by:
        return ()
    asks = (ask for ask in found.rule.asks if not ask.about)
    return tuple(model.Wanted(ask.missing, rest) for ask in asks if (rest := rest_of(ask.ask_for)))


def without_shown(fix: model.Fix | str, without_looks: Callable[[str], str]) -> model.Fix | str:
    """The fix without commands that only show again what is in the input."""
    lines = "" if isinstance(fix, str) else fix.commands.get("shell", "")
    left = without_looks(lines) if lines else lines
    if isinstance(fix, str) or left == lines:
        return fix
    commands = {**fix.commands, "shell": left}
    return msgspec.structs.replace(fix, commands={name: text for name, text in commands.items() if text})


def without_given(
    report: model.Report, place_of: Callable[[str], str], rest_of: Callable[[str], str]
) -> model.Report:  # fmt: skip
    """The report without requests for outputs that are in the input.

    ``place_of`` gives the line of an output, ``rest_of`` what of several outputs is missing.
    """
    suspects = tuple(
        msgspec.structs.replace(suspect, decide=tuple(_with_place(each, place_of) for each in suspect.decide))
        for suspect in report.suspects
    )
    unknown = tuple(
        msgspec.structs.replace(each, ask_for=tuple(rest for ask in each.ask_for if (rest := rest_of(ask))))
        for each in report.unknown
    )
    return msgspec.structs.replace(report, suspects=suspects, unknown=unknown)


def _with_place(asked: model.Question, place_of: Callable[[str], str]) -> model.Question:
    """The question, with the line of the output that decides it in place of the request for that output."""
    place = "" if asked.run or not asked.ask else place_of(asked.ask)
    if not place:
        return asked
    text = asked.text if asked.text.endswith("?") else asked.ask
    return msgspec.structs.replace(asked, ask="", text=say("see {place}: {question}", place=place, question=text))
