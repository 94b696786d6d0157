"""Suspects as the report shows them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from ncdiag.engine.results import Finding
from ncdiag.engine.schema import Rule
from ncdiag.engine.where import Where
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.told import cured_by
from ncdiag.fixes.values import Values
from ncdiag.language import phrase
from ncdiag.report import model
from ncdiag.report.placeholders import is_plain, unbound
from ncdiag.report.remedies import fixes_of
from ncdiag.report.texts import evidence
from ncdiag.suspects.choose import Suspected
from ncdiag.suspects.decide import Question, questions
from ncdiag.suspects.weigh import Judged

SHOWN_QUESTIONS = 3


def suspects_of(
    shown: Sequence[Suspected], view: View, values: Values, faults: list[str], answered: Iterable[str] = ()
) -> tuple[model.Suspect, ...]:
    """The suspects as parts of the report; ``answered`` are questions that were already asked."""
    asked = questions(shown, answered)
    names = {suspected.rule.code: suspected.rule.name for suspected in shown}
    return tuple(
        msgspec.structs.replace(
            _suspect(suspected, view, values, faults),
            decide=tuple(_question(each, names) for each in asked if suspected.rule.code in each.codes)[
                :SHOWN_QUESTIONS
            ],
        )
        for suspected in shown
    )


def _question(asked: Question, names: dict[str, str]) -> model.Question:
    about = tuple(names[code] for code in names if code in asked.codes)
    return model.Question(asked.key, asked.ask, asked.text, asked.is_run, about)


def _suspect(suspected: Suspected, view: View, values: Values, faults: list[str]) -> model.Suspect:
    """The suspect with its fixes; placeholders replace values that only a finding would have."""
    rule = suspected.rule
    fixes: list[model.Fix] = []
    for fix in fixes_of(unbound_finding(rule), view, values, faults):
        if isinstance(fix, model.Fix) and not _is_set(fix, view) and fix not in fixes:
            fixes.append(fix)
    return model.Suspect(
        code=rule.code, name=rule.name, formerly=rule.formerly, likelihood=suspected.likelihood,
        is_tied=suspected.is_tied,
        title=rule.suspect.text if rule.suspect else rule.title,
        why=" ".join(rule.why.split()) if is_plain(rule, rule.why) else "",
        supporting=tuple(map(_sign, suspected.weighed.supporting)), against=tuple(map(_sign, suspected.against)),
        open=tuple(phrase(judged.sign.text) for judged in suspected.open),
        fixes=tuple(fixes),
        references=rule.references,
    )  # fmt: skip


def _is_set(fix: model.Fix, view: View) -> bool:
    """True if the input already sets everything that the fix would set, and does not show that it helps."""
    held = {(setting.name, setting.text) for setting in view.job.settings}
    held |= {pair for launch in view.job.launches for pair in (*launch.env.items(), *launch.prefix_env.items())}
    helped = {*cured_by(view.job, view)}
    return (
        bool(fix.env)
        and held.issuperset(fix.env.items())
        and not any(f"{name}={value}" in helped for name, value in fix.env.items())
    )


def _sign(judged: Judged) -> model.Sign:
    return model.Sign(phrase(judged.sign.text), judged.sign.strength, evidence(judged.evidence))


def unbound_finding(rule: Rule) -> Finding:
    """A finding without instances, for computing the fixes of a suspect."""
    return Finding(
        rule=unbound(rule), severity=rule.severity, role=rule.role, layer=rule.layer, title="", why="",
        confidence="possible", where=Where.nowhere(), evidence=(), instances=({},), count=1,
    )  # fmt: skip
