"""What to provide next for a symptom whose cause was not found: outputs that its rule asks for and that are missing.

Nothing is asked for that was read: of a question that an output in the input decides, the line is named instead.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.engine.results import Finding
from ncdiag.facts.view import View
from ncdiag.fixes.values import Values
from ncdiag.language import say
from ncdiag.report import model
from ncdiag.report.named import named

_OF_SEVERAL = lazy_regex(r"\b(?:every|each|all|both)\b")
"""Words of a request for the outputs of several hosts or processes, of which one name is not enough."""


def asked(text: str, found: Finding, view: View, values: Values) -> str:
    """A request with what the input names: ``mlnx_qos -i ens1f0`` in place of ``mlnx_qos -i <interface>``."""
    return text if _OF_SEVERAL.search(text) else named(text, found, view, values.names)


def wanted(found: Finding, rest_of: Callable[[str], str], fill: Callable[[str], str] = str) -> tuple[model.Wanted, ...]:
    """The outputs that the rule of an unexplained symptom asks for; ``rest_of`` gives those that are not in the input.

    ``fill`` writes the names of the input into them.

    Asks about a single condition are left out: they are for rules that could not be judged, and this one could.
    """
    if found.role != "symptom" or found.severity == "info" or found.explained_by:
        return ()
    asks = (ask for ask in found.rule.asks if not ask.about)
    return tuple(model.Wanted(ask.missing, fill(rest)) for ask in asks if (rest := rest_of(ask.ask_for)))


def without_shown(fix: model.Fix | str, without_looks: Callable[[str], str]) -> model.Fix | str:
    """The fix without commands that only show again what is in the input."""
    lines = "" if isinstance(fix, str) else fix.commands.get("shell", "")
    left = without_looks(lines) if lines else lines
    if isinstance(fix, str) or left == lines:
        return fix
    commands = {**fix.commands, "shell": left}
    return msgspec.structs.replace(fix, commands={name: text for name, text in commands.items() if text})


def without_given(
    report: model.Report, place_of: Callable[[str], str], rest_of: Callable[[str], str],
    fill: Callable[[str, str], str],
) -> model.Report:  # fmt: skip
    """The report without requests for outputs that are in the input.

    ``place_of`` gives the line of an output, ``rest_of`` what of several outputs is missing, ``fill`` a request of the
    rule with this code with the names of the input.
    """
    suspects = tuple(
        msgspec.structs.replace(
            suspect, decide=tuple(_with_place(each, place_of, partial(fill, suspect.code)) for each in suspect.decide)
        )
        for suspect in report.suspects
    )
    unknown = tuple(
        msgspec.structs.replace(
            each, ask_for=tuple(fill(each.code, rest) for ask in each.ask_for if (rest := rest_of(ask)))
        )
        for each in report.unknown
    )
    return msgspec.structs.replace(report, suspects=suspects, unknown=unknown)


def _with_place(
    asked: model.Question, place_of: Callable[[str], str], fill: Callable[[str], str]
) -> model.Question:  # fmt: skip
    """The question, with the line of the output that decides it in place of the request for that output."""
    place = "" if asked.run or not asked.ask else place_of(asked.ask)
    if not place:
        return asked if asked.run else msgspec.structs.replace(asked, ask=fill(asked.ask))
    text = asked.text if asked.text.endswith("?") else asked.ask
    return msgspec.structs.replace(asked, ask="", text=say("see {place}: {question}", place=place, question=text))
