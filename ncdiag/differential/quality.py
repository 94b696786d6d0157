"""Signs tried on their own examples: what `ncdiag rules test` and the project's tests say about them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import msgspec

from ncdiag.differential.weigh import Scales
from ncdiag.differential.wording import Wording
from ncdiag.engine.evaluate import program_of
from ncdiag.engine.schema import Rule, Sign
from ncdiag.facts.view import View

Look = Callable[[str], tuple[View, Wording]]
"""A text as a person pastes it: what was seen, and its words."""
_NEEDS_A_TWIN = ("decisive", "strong")
_FEWEST = 2


def problems(rules: Iterable[Rule], look: Look) -> list[str]:
    """What is wrong with the signs of the rules, one sentence each."""
    return [f"{rule.name}: {problem}" for rule in rules if rule.suspect for problem in _problems(rule, look)]


def _problems(rule: Rule, look: Look) -> Iterator[str]:
    if sum(not sign.against for sign in rule.signs) < _FEWEST:
        yield f"has fewer than {_FEWEST} signs for it: a suspect is seen in several ways"
    for number, sign in enumerate(rule.signs):
        for problem in _of_sign(rule, number, look):
            yield f"the sign {sign.text!r} {problem}"


def _of_sign(rule: Rule, number: int, look: Look) -> Iterator[str]:
    sign = rule.signs[number]
    if not sign.example:
        yield "has no `example`: write a text in which it is true"
        return
    scales = Scales(*look(sign.example), ())
    if not _is_true(rule, sign, scales):
        yield "is not true in its example"
    elif not _changes(rule, number, scales):
        yield "changes nothing in its example: the suspect weighs the same without it"
    if sign.unlike and _is_true(rule, sign, Scales(*look(sign.unlike), ())):
        yield "is true in `unlike`, too"
    if not sign.unlike and sign.strength in _NEEDS_A_TWIN:
        yield f"is {sign.strength} and has no `unlike`: write what looks like it and is healthy, or another fault"


def _is_true(rule: Rule, sign: Sign, scales: Scales) -> bool:
    return any(judged.sign is sign and judged.truth for judged in scales.one(rule).signs)


def _changes(rule: Rule, number: int, scales: Scales) -> bool:
    """Does the suspect weigh otherwise without the sign, so that it moves among the others?"""
    return scales.one(rule).score != scales.one(_without(rule, number)).score


def _without(rule: Rule, number: int) -> Rule:
    program = program_of(rule)
    less = msgspec.structs.replace(
        program,
        sign_when=program.sign_when[:number] + program.sign_when[number + 1 :],
        sign_says=program.sign_says[:number] + program.sign_says[number + 1 :],
    )
    return msgspec.structs.replace(rule, signs=rule.signs[:number] + rule.signs[number + 1 :], program=less)
