"""The fixed order of rules, which decides which finding is printed first if severity, time and layer are equal.

Rules that prove something precede those that make it likely; then the lower code is first. A rule that must come
earlier names those that it precedes (``before``): it is moved before the first of them, and the others keep their
places.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import msgspec

from ncdiag.base.errors import DefinitionError
from ncdiag.base.severity import CONFIDENCES
from ncdiag.engine.schema import Rule


def placed(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    """The rules sorted by code, each with its ``place`` in the order.

    Unknown names under ``before`` are ignored (`ncdiag rules test` reports them). Raises DefinitionError for rules that
    precede each other.
    """
    held = sorted(rules, key=lambda rule: rule.code)
    places = _places(held)
    return tuple(msgspec.structs.replace(rule, place=places[rule.name]) for rule in held)


def _places(rules: Iterable[Rule]) -> dict[str, int]:
    held = sorted(rules, key=lambda rule: (CONFIDENCES.index(rule.strength), rule.code))
    named = {name: rule.name for rule in held for name in (rule.name, *rule.formerly)}
    earlier: dict[str, list[Rule]] = defaultdict(list)
    for rule in held:
        for name in rule.before:
            earlier[named.get(name, "")].append(rule)
    places: dict[str, int] = {}

    def place(rule: Rule, later: tuple[str, ...]) -> None:
        if rule.name in later:
            circle = " before ".join((rule.name, *reversed(later[later.index(rule.name) :])))
            reason = f"before is circular: {circle}"
            raise DefinitionError(reason, hint="remove one of them")
        if rule.name not in places:
            for first in earlier[rule.name]:
                place(first, (*later, rule.name))
            places[rule.name] = len(places)

    for rule in held:
        place(rule, ())
    return places
