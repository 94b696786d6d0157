"""The measure of growth tells linear work from quadratic work."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from linear import assert_linear


def insert_in_front(size: int) -> None:
    found: list[int] = []
    for number in range(size):
        found.insert(0, number)


def all_pairs(size: int) -> int:
    return sum(one < other for one in range(size) for other in range(size))


def find_from_every_place(size: int) -> None:
    text = "x" * size
    for place in range(size):
        text.find("y", place)


def backtrack(size: int) -> None:
    re.search("x*y", "x" * size)


@pytest.mark.parametrize(
    ("work", "size"),
    [(insert_in_front, 6000), (all_pairs, 200), (find_from_every_place, 20_000), (backtrack, 4000)],
)
def test_quadratic_work_fails(work: Callable[[int], object], size: int) -> None:
    with pytest.raises(AssertionError, match="8 times the input"):
        assert_linear(work, int, size)


@pytest.mark.parametrize("size", [10, 1000, 50_000])
@pytest.mark.parametrize("work", [range, lambda size: sorted(map(str, range(size, 0, -1))), lambda size: "x" * size])
def test_linear_work_passes(work: Callable[[int], object], size: int) -> None:
    assert_linear(work, int, size)


def test_what_was_seen_before_is_not_measured_again() -> None:
    given: list[int] = []
    assert_linear(given.append, int, 100)
    assert len(given) == len(set(given))
