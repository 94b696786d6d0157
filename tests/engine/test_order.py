"""The order of rules that decides ties: strength, code, and what a rule says to precede."""

from __future__ import annotations

import msgspec
import pytest

from ncdiag.base.errors import DefinitionError
from ncdiag.base.severity import Confidence
from ncdiag.engine.order import placed
from ncdiag.engine.schema import Rule


def rule(code: int, *before: str, strength: Confidence = "likely", **fields: object) -> Rule:
    made = Rule(
        code=f"NCD{code:03d}", name=f"r{code}", area="a", severity="error", role="cause", title="t", why="w",
        when=("True",), before=before, strength=strength,
    )  # fmt: skip
    return msgspec.structs.replace(made, **fields)


def order(*rules: Rule) -> list[str]:
    return [found.name for found in sorted(placed(rules), key=lambda found: found.place)]


def test_what_is_proved_comes_first_then_the_lower_code() -> None:
    assert order(rule(4), rule(1, strength="possible"), rule(3), rule(9, strength="certain")) == [
        "r9",
        "r3",
        "r4",
        "r1",
    ]


def test_a_rule_is_moved_up_before_those_that_it_precedes() -> None:
    assert order(rule(1), rule(2), rule(3), rule(4, "r2"), rule(5, "r4")) == ["r1", "r5", "r4", "r2", "r3"]
    assert order(rule(1), rule(2), rule(3, "r1", "r2")) == ["r3", "r1", "r2"]


def test_a_former_name_counts_and_an_unknown_one_does_not() -> None:
    assert order(rule(1, formerly=("old",)), rule(2, "old", "nothing")) == ["r2", "r1"]


def test_a_circle_is_refused() -> None:
    with pytest.raises(DefinitionError, match="before is circular: r1 before r2 before r3 before r1"):
        placed([rule(1, "r2"), rule(2, "r3"), rule(3, "r1")])
    with pytest.raises(DefinitionError, match="before is circular: r1 before r1"):
        placed([rule(1, "r1")])


def test_places_of_a_book_stay_in_order_when_a_pack_joins_it() -> None:
    book = placed([rule(1), rule(2), rule(3, "r1")])
    joined = placed([*book, msgspec.structs.replace(rule(9, "r2"), name="own")])
    assert [found.code for found in joined] == ["NCD001", "NCD002", "NCD003", "NCD009"]
    assert order(*joined) == ["r3", "r1", "own", "r2"]
