"""What to look at next where a symptom was found and its cause was not: what its rule asks for and nobody gave."""

from __future__ import annotations

from collections.abc import Callable

from ncdiag.engine.results import Finding
from ncdiag.report import model


def wanted(found: Finding, is_given: Callable[[str], bool]) -> tuple[model.Wanted, ...]:
    """The outputs that the rule of an unexplained symptom asks for; ``is_given`` tells whether one is in the input.

    An ask about one condition is for where that could not be judged, and here it could.
    """
    if found.role != "symptom" or found.severity == "info" or found.explained_by:
        return ()
    open_asks = (ask for ask in found.rule.asks if not ask.about and not is_given(ask.ask_for))
    return tuple(model.Wanted(ask.missing, ask.ask_for) for ask in open_asks)
