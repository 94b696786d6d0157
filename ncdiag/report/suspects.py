"""Suspects as the report shows them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from ncdiag.differential.choose import Suspected
from ncdiag.differential.decide import Question, questions
from ncdiag.differential.weigh import Judged
from ncdiag.engine.evaluate import program_of
from ncdiag.engine.program import Program
from ncdiag.engine.results import Finding
from ncdiag.engine.schema import Fix, Rule
from ncdiag.engine.tree import Slot, names_read
from ncdiag.engine.where import Where
from ncdiag.facts.view import View
from ncdiag.fixes.values import Values
from ncdiag.report import model
from ncdiag.report.remedies import fixes_of
from ncdiag.report.texts import evidence

SHOWN_QUESTIONS = 3


def suspects_of(
    shown: Sequence[Suspected], view: View, values: Values, faults: list[str], answered: Iterable[str] = ()
) -> tuple[model.Suspect, ...]:
    """The suspects as parts of the report; ``answered`` are questions that were asked already."""
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
    """The suspect with the fixes that need no more than what is known of the job."""
    rule = suspected.rule
    fixes = fixes_of(_as_finding(rule), view, values, faults)
    return model.Suspect(
        code=rule.code, name=rule.name, formerly=rule.formerly, likelihood=suspected.likelihood,
        title=rule.suspect.text if rule.suspect else rule.title,
        why=" ".join(rule.why.split()) if _is_plain(program_of(rule), rule.why) else "",
        supporting=tuple(map(_sign, suspected.weighed.supporting)), against=tuple(map(_sign, suspected.against)),
        open=tuple(judged.sign.text for judged in suspected.open),
        fixes=tuple(fix for fix in fixes if isinstance(fix, model.Fix) and not _is_set(fix, view)),
        references=rule.references,
    )  # fmt: skip


def _is_set(fix: model.Fix, view: View) -> bool:
    """Does the input set all that the fix would set?"""
    held = {(setting.name, setting.text) for setting in view.job.settings}
    held |= {pair for launch in view.job.launches for pair in (*launch.env.items(), *launch.prefix_env.items())}
    return bool(fix.env) and held.issuperset(fix.env.items())


def _sign(judged: Judged) -> model.Sign:
    return model.Sign(judged.sign.text, judged.sign.strength, evidence(judged.evidence))


def _as_finding(rule: Rule) -> Finding:
    """A finding of nothing in particular, with the fixes whose texts speak of the job alone."""
    program = program_of(rule)
    kept = [number for number, fix in enumerate(rule.fixes) if _is_general(program, number, fix)]
    program = msgspec.structs.replace(
        program,
        fix_when=tuple(program.fix_when[number] for number in kept),
        fix_nccl=tuple(program.fix_nccl[number] for number in kept),
    )
    general = msgspec.structs.replace(rule, program=program, fixes=tuple(rule.fixes[number] for number in kept))
    return Finding(
        rule=general, severity=rule.severity, role=rule.role, layer=rule.layer, title="", why="",
        confidence="possible", where=Where.nowhere(), evidence=(), instances=({},), count=1,
    )  # fmt: skip


def _is_general(program: Program, number: int, fix: Fix) -> bool:
    texts = [fix.text, fix.scope, fix.confirm, *fix.env.values(), *fix.unset, *fix.commands]
    named = {name for tree in program.fix_when[number] for name in names_read(tree)}
    return named <= {"job"} and all(_is_plain(program, text) for text in texts)


def _is_plain(program: Program, text: str) -> bool:
    """Does the text name nothing but the job and values that are computed?"""
    slots = (part for part in program.templates.get(text, ()) if isinstance(part, Slot))
    return all(names_read(slot.tree) <= {"job"} for slot in slots)
