"""The next question: the one whose answer would change the order of the suspects most; cheapest first among equals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from ncdiag.language import say
from ncdiag.suspects import trials
from ncdiag.suspects.choose import Suspected
from ncdiag.suspects.weigh import STRENGTHS, key_of

_OF_ASK, _OF_TRIAL = STRENGTHS["moderate"], STRENGTHS["strong"]
"""The expected weight of the output that settles a rule, and of a run with its fix."""


class Question(msgspec.Struct, frozen=True):
    """A question, an output to paste, or a run to make (``is_run``), whose answer is evidence for or against suspects.

    ``key`` identifies the answer (`Scales` takes it); ``codes`` are the suspects that "yes" supports; ``counts`` is the
    weight of the answer. If the text ends with a question mark, it can be answered with yes or no; if ``ask`` is empty,
    only so.
    """

    key: str
    ask: str
    text: str
    codes: tuple[str, ...]
    counts: float
    is_run: bool = False


def questions(shown: Sequence[Suspected], answered: Iterable[str] = ()) -> list[Question]:
    """The questions worth asking about the suspects, most useful first, without those in ``answered``."""
    found: dict[str, Question] = {}
    for suspected in shown:
        for question in _of(suspected):
            known = found.get(question.key)
            if known is not None:
                question = msgspec.structs.replace(known, codes=tuple({*known.codes, *question.codes}))  # noqa: PLW2901
            found[question.key] = question
    done = set(answered)
    asked = [question for question in found.values() if question.key not in done]
    return sorted(asked, key=lambda question: (-_changes(question, shown), question.is_run, -question.counts))


def _of(suspected: Suspected) -> Iterator[Question]:
    rule = suspected.rule
    asks = list(rule.asks)
    if rule.suspect and rule.suspect.ask:
        shows = asks.pop(0).ask_for if asks else ""
        yield Question(rule.suspect.ask, shows, rule.suspect.ask, (rule.code,), STRENGTHS["strong"])
    for judged in suspected.weighed.signs:
        sign = judged.sign
        if sign.ask and not judged.truth:
            yield Question(
                key_of(rule, sign),
                sign.ask,
                say("{question}?", question=sign.text),
                (rule.code,),
                STRENGTHS[sign.strength],
            )
    for ask in asks:
        yield Question(ask.ask_for, ask.ask_for, ask.missing, (rule.code,), _OF_ASK)
    for fix in rule.fixes:
        if fix.kind == "env" and fix.risk != "high":
            for label in trials.variables(fix):
                text = say("does it run with {setting}?", setting=label)
                yield Question(label, label, text, (rule.code,), _OF_TRIAL, is_run=True)


def _changes(question: Question, shown: Sequence[Suspected]) -> int:
    """How many of the two answers would change the order of the suspects, or separate the first two clearly."""
    before = [suspected.rule.code for suspected in shown]
    found = 0
    for sign in (1, -1):
        scores = {
            each.rule.code: each.weighed.score + sign * question.counts * (each.rule.code in question.codes)
            for each in shown
        }
        found += sorted(before, key=lambda code: -scores[code]) != before
    return 2 * found + (before[0] in question.codes and len(question.codes) < len(before) if before else 0)
