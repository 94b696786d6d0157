"""What to provide next for a symptom whose cause was not found: outputs that its rule asks for and that are missing."""

from __future__ import annotations

from collections.abc import Callable

from ncdiag.engine.results import Finding
from ncdiag.report import model


def wanted(found: Finding, is_given: Callable[[str], bool]) -> tuple[model.Wanted, ...]:
    """The outputs that the rule of an unexplained symptom asks for; ``is_given`` says whether one is in the input.

    Asks about a single condition are left out: they are for rules that could not be judged, and this one could.
    """
    if found.role != "symptom" or found.severity == "info" or found.explained_by:
        return ()
    open_asks = (ask for ask in found.rule.asks if not ask.about and not is_given(ask.ask_for))
    return tuple(model.Wanted(ask.missing, ask.ask_for) for ask in open_asks)
