"""Test signs on their own examples: the problems that `ncdiag rules test` and the project's tests report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

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
    elif not any(judged.sign.text == sign.text and judged.counts for judged in scales.one(rule).signs):
        yield "changes nothing in its example: a stronger sign shows the same on the same lines"
    if sign.unlike and _is_true(rule, sign, Scales(*look(sign.unlike), ())):
        yield "is true in `unlike`, too"
    if not sign.unlike and sign.strength in _NEEDS_A_TWIN:
        yield (
            f"is {sign.strength} and has no `unlike`: write a text that resembles it but is healthy or another fault"
        )


def _is_true(rule: Rule, sign: Sign, scales: Scales) -> bool:
    return any(judged.sign.text == sign.text and judged.truth for judged in scales.one(rule).signs)
