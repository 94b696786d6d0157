"""What to provide next for a symptom whose cause was not found: outputs that its rule asks for and that are missing.

Nothing is asked for that was read: of a question that an output in the input decides, the line is named instead.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from ncdiag.engine.results import Finding
from ncdiag.language import say
from ncdiag.report import model


def wanted(found: Finding, is_given: Callable[[str], bool]) -> tuple[model.Wanted, ...]:
    """The outputs that the rule of an unexplained symptom asks for; ``is_given`` says whether one is in the input.

    Asks about a single condition are left out: they are for rules that could not be judged, and this one could.
    """
    if found.role != "symptom" or found.severity == "info" or found.explained_by:
        return ()
    open_asks = (ask for ask in found.rule.asks if not ask.about and not is_given(ask.ask_for))
    return tuple(model.Wanted(ask.missing, ask.ask_for) for ask in open_asks)


def without_given(report: model.Report, place_of: Callable[[str], str]) -> model.Report:
    """The report without requests for outputs that are in the input; ``place_of`` gives the line of an output."""
    suspects = tuple(
        msgspec.structs.replace(suspect, decide=tuple(_with_place(each, place_of) for each in suspect.decide))
        for suspect in report.suspects
    )
    unknown = tuple(
        msgspec.structs.replace(each, ask_for=tuple(ask for ask in each.ask_for if not place_of(ask)))
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
