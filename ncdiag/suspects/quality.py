"""Signs tried on their own examples: what `ncdiag rules test` and the project's tests say about them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator

import msgspec

from ncdiag.engine.evaluate import program_of
from ncdiag.engine.schema import Rule, Sign
from ncdiag.facts.view import View
from ncdiag.suspects.choose import likelihood
from ncdiag.suspects.weigh import Scales, Weighed
from ncdiag.suspects.wording import Wording

Look = Callable[[str], tuple[View, Wording]]
"""A text as a person pastes it: what was seen, and its words."""
_NEEDS_A_TWIN = ("decisive", "strong")
_FEWEST = 2


def problems(rules: Iterable[Rule], look: Look, book: Collection[Rule]) -> list[str]:
    """What is wrong with the signs of the rules, one sentence each; ``book``: all rules, whose order a sign changes."""
    return [f"{rule.name}: {problem}" for rule in rules if rule.suspect for problem in _problems(rule, look, book)]


def _problems(rule: Rule, look: Look, book: Collection[Rule]) -> Iterator[str]:
    if sum(not sign.against for sign in rule.signs) < _FEWEST:
        yield f"has fewer than {_FEWEST} signs for it: a suspect is seen in several ways"
    for number, sign in enumerate(rule.signs):
        for problem in _of_sign(rule, number, look, book):
            yield f"the sign {sign.text!r} {problem}"


def _of_sign(rule: Rule, number: int, look: Look, book: Collection[Rule]) -> Iterator[str]:
    sign = rule.signs[number]
    if not sign.example:
        yield "has no `example`: write a text in which it is true"
        return
    scales = Scales(*look(sign.example), ())
    if not _is_true(rule, sign, scales):
        yield "is not true in its example"
    elif not _changes(rule, number, scales, book):
        yield "changes nothing in its example: the suspects come out the same without it"
    if sign.unlike and _is_true(rule, sign, Scales(*look(sign.unlike), ())):
        yield "is true in `unlike`, too"
    if not sign.unlike and sign.strength in _NEEDS_A_TWIN:
        yield f"is {sign.strength} and has no `unlike`: write what looks like it and is healthy, or another fault"


def _is_true(rule: Rule, sign: Sign, scales: Scales) -> bool:
    return any(judged.sign is sign and judged.truth for judged in scales.one(rule).signs)


def _changes(rule: Rule, number: int, scales: Scales, book: Collection[Rule]) -> bool:
    """Do the suspects come out otherwise without the sign: in another order, or with another word?"""
    others = scales.weigh(other for other in book if other.code != rule.code)
    return _outcome(scales.one(rule), others) != _outcome(scales.one(_without(rule, number)), others)


def _outcome(weighed: Weighed, others: Iterable[Weighed]) -> tuple[bool, int, str | None]:
    """Whether it is a suspect at all, its place among the others, and the word."""
    place = sum(other.score > weighed.score for other in others)
    return bool(weighed.supporting), place, likelihood(weighed.score, weighed.score, first=place == 0)


def _without(rule: Rule, number: int) -> Rule:
    program = program_of(rule)
    less = msgspec.structs.replace(
        program,
        sign_when=program.sign_when[:number] + program.sign_when[number + 1 :],
        sign_says=program.sign_says[:number] + program.sign_says[number + 1 :],
    )
    return msgspec.structs.replace(rule, signs=rule.signs[:number] + rule.signs[number + 1 :], program=less)
