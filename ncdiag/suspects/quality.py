"""Test signs on their own examples: the problems that `ncdiag rules test` and the project's tests report."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator

import msgspec

from ncdiag.engine.compiling import program_of
from ncdiag.engine.schema import Rule, Sign
from ncdiag.facts.view import View
from ncdiag.suspects.choose import Likelihood, likelihood
from ncdiag.suspects.weigh import Scales, Weighed
from ncdiag.suspects.wording import Wording

Look = Callable[[str], tuple[View, Wording]]
"""Maps a text as pasted by a person to its facts and its words."""
_NEEDS_A_TWIN = ("decisive", "strong")
_FEWEST = 2


def problems(rules: Iterable[Rule], look: Look, book: Collection[Rule]) -> list[str]:
    """The problems of the signs of the rules, one sentence each; ``book``: all rules, whose order a sign influences."""
    return [f"{rule.name}: {problem}" for rule in rules if rule.suspect for problem in _problems(rule, look, book)]


def _problems(rule: Rule, look: Look, book: Collection[Rule]) -> Iterator[str]:
    if sum(not sign.against for sign in rule.signs) < _FEWEST:
        yield f"has fewer than {_FEWEST} signs for it: a suspect needs several"
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
        yield "changes nothing in its example: the suspects are the same without it"
    if sign.unlike and _is_true(rule, sign, Scales(*look(sign.unlike), ())):
        yield "is true in `unlike`, too"
    if not sign.unlike and sign.strength in _NEEDS_A_TWIN:
        yield (
            f"is {sign.strength} and has no `unlike`: write a text that resembles it but is healthy or another fault"
        )


def _is_true(rule: Rule, sign: Sign, scales: Scales) -> bool:
    return any(judged.sign is sign and judged.truth for judged in scales.one(rule).signs)


def _changes(rule: Rule, number: int, scales: Scales, book: Collection[Rule]) -> bool:
    """True if without the sign the suspect differs: is absent, has another word, or is in another place.

    Usually the answer follows from the suspect alone. The others are scored only while the answer depends on them.
    """
    whole, less = scales.one(rule), scales.one(_without(rule, number))
    if bool(whole.supporting) != bool(less.supporting):
        return True
    if whole.score == less.score:
        return False
    if _words(whole).isdisjoint(_words(less)):
        return True
    low, high = sorted((whole.score, less.score))
    is_first = True
    for other in (scales.one(other) for other in book if other.suspect and other.code != rule.code):
        if other.supporting and low < other.score <= high:
            return True
        is_first = is_first and not (other.supporting and other.score > high)
    return _word(whole, first=is_first) != _word(less, first=is_first)


def _words(weighed: Weighed) -> set[Likelihood | None]:
    """The words that a suspect can have, whatever the scores of the others."""
    return {_word(weighed, first=first) for first in (True, False)}


def _word(weighed: Weighed, *, first: bool) -> Likelihood | None:
    return likelihood(weighed, weighed.score, first=first)


def _without(rule: Rule, number: int) -> Rule:
    program = program_of(rule)
    less = msgspec.structs.replace(
        program,
        sign_when=program.sign_when[:number] + program.sign_when[number + 1 :],
        sign_says=program.sign_says[:number] + program.sign_says[number + 1 :],
    )
    return msgspec.structs.replace(rule, signs=rule.signs[:number] + rule.signs[number + 1 :], program=less)
