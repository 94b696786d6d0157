"""Test signs on their own examples: the problems that `ncdiag rules test` and the project's tests report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import msgspec

from ncdiag.engine.compiling import program_of
from ncdiag.engine.schema import Rule, Sign
from ncdiag.facts.view import View
from ncdiag.suspects.weigh import Scales
from ncdiag.suspects.wording import Wording

Look = Callable[[str], tuple[View, Wording]]
"""Maps a text as pasted by a person to its facts and its words."""
_NEEDS_A_TWIN = ("decisive", "strong")
_FEWEST = 2


def problems(rules: Iterable[Rule], look: Look) -> list[str]:
    """The problems of the signs of the rules, one sentence each."""
    return [f"{rule.name}: {problem}" for rule in rules if rule.suspect for problem in _problems(rule, look)]


def _problems(rule: Rule, look: Look) -> Iterator[str]:
    if sum(not sign.against for sign in rule.signs) < _FEWEST:
        yield f"has fewer than {_FEWEST} signs for it: a suspect needs several"
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
        yield "changes nothing in its example: the score is the same without it"
    if sign.unlike and _is_true(rule, sign, Scales(*look(sign.unlike), ())):
        yield "is true in `unlike`, too"
    if not sign.unlike and sign.strength in _NEEDS_A_TWIN:
        yield (
            f"is {sign.strength} and has no `unlike`: write a text that resembles it but is healthy or another fault"
        )


def _is_true(rule: Rule, sign: Sign, scales: Scales) -> bool:
    return any(judged.sign is sign and judged.truth for judged in scales.one(rule).signs)


def _changes(rule: Rule, number: int, scales: Scales) -> bool:
    """True if the score differs without the sign: no other sign of its group or on its lines shows the same."""
    whole, less = scales.one(rule), scales.one(_without(rule, number))
    return whole.score != less.score or bool(whole.supporting) != bool(less.supporting)


def _without(rule: Rule, number: int) -> Rule:
    program = program_of(rule)
    less = msgspec.structs.replace(
        program,
        sign_when=program.sign_when[:number] + program.sign_when[number + 1 :],
        sign_says=program.sign_says[:number] + program.sign_says[number + 1 :],
    )
    return msgspec.structs.replace(rule, signs=rule.signs[:number] + rule.signs[number + 1 :], program=less)
