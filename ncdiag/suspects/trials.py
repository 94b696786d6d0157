"""Evidence from trials of fixes: one mechanism for all suspects.

A fix that worked is strong evidence for the fault that it fixes; one that did not work is evidence against it, and
excludes it if the fix would have hidden the fault. That it works without a part of NCCL is evidence for all causes in
that part; that it fails without it excludes them (`ncdiag.engine.exclusion`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.engine.exclusion import NO_FAILURE, PARTS, in_words, with_values
from ncdiag.engine.schema import Fix, Rule, Sign, Strength
from ncdiag.facts.model.told import RELEASED

_PRINTS = lazy_regex(r"_(?:DEBUG|REPORT|TRACE|DUMP)(?:_|$)")
"""Part of the name of a variable that only prints more (NCCL, PyTorch, Gloo)."""

_RELEASE = lazy_regex(rf"(?:older|newer|other)-(?:{'|'.join(RELEASED)})")
"""Labels of another release: one works and another does not."""

GROUP = "trial"
"""The group of signs from trials."""
_MANY = 5
"""Minimum number of suspects with the same fix for which the fix is evidence on their class, not on each of them."""


def is_only_output(name: str) -> bool:
    """True for a variable that only prints more."""
    return _PRINTS.search(name) is not None


def variables(fix: Fix) -> Iterator[str]:
    """Labels of a run with the fix: ``NCCL_P2P_DISABLE=1``, or only the name if the value is computed.

    A variable that only prints more is not a trial.
    """
    for name, value in fix.env.items():
        if name != "*" and not is_only_output(name):
            yield name if "{" in value or not value else f"{name}={value}"
    yield from (f"unset {name}" for name in fix.unset if "{" not in name)


def labels(fix: Fix) -> Iterator[str]:
    """Labels of runs with the fix."""
    yield from variables(fix)
    yield from fix.tried


def offered(rules: Iterable[Rule]) -> Counter[str]:
    """The number of suspects that offer each fix, by the labels of its runs."""
    suspects = (rule for rule in rules if rule.suspect is not None)
    return Counter(label for rule in suspects for label in {label for fix in rule.fixes for label in labels(fix)})


def signs(
    rule: Rule, cured: Iterable[str], in_vain: Iterable[str], offers: Mapping[str, int], *, says_why: bool = False
) -> Iterator[tuple[Sign, str]]:
    """The signs from trials, each with the label of its trial; ``offers`` are those of all rules.

    That one release works and another does not is decisive, unless a symptom ``says_why`` it fails.
    """
    helped, failed = with_values(cured), with_values(in_vain)
    for fix in rule.fixes:
        tried = list(labels(fix))
        if any(label in helped and _RELEASE.match(label) for label in tried):
            tried = [label for label in tried if label in helped]  # another release in vain says nothing then
        for label in tried:
            if label in helped:
                best: Strength = "decisive" if _RELEASE.match(label) and not says_why else "strong"
                strength: Strength = best if offers.get(label, 0) < _MANY else "moderate"
                yield Sign(text=f"it works with {in_words(label)}", strength=strength, group=GROUP), label
            elif label in failed:
                sign = Sign(text=f"{in_words(label)} does not help", strength="strong", against=True, group=GROUP)
                yield msgspec.structs.replace(sign, strength="decisive") if fix.workaround else sign, label
    if rule.suspect and set(rule.suspect.complaints) - NO_FAILURE:
        for label, part in PARTS.items():
            if rule.area in part.areas | part.shown and label in helped and part.for_it:
                text = f"it works with {in_words(label)}, which excludes {part.name}"
                yield Sign(text=text, strength="moderate", group=GROUP), label
