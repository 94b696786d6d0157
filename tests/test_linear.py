"""The measure of growth tells linear work from quadratic work."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable

import pytest
from linear import assert_linear, assert_linear_time, calls


def all_pairs(size: int) -> int:
    return sum(one < other for one in range(size) for other in range(size))


def wait_in_line(size: int) -> None:
    waiting = [range(number) for number in range(size)]
    while waiting:
        all(len(each) >= 0 for each in waiting)
        waiting.pop()


@pytest.mark.parametrize("work", [all_pairs, wait_in_line])
def test_quadratic_work_fails(work: Callable[[int], object]) -> None:
    with pytest.raises(AssertionError, match=r"8 times the input .* as many calls"):
        assert_linear(work, int, 40)


def spell(size: int) -> list[str]:
    return [str(number) for number in range(size)]


def order(size: int) -> list[int]:
    return sorted(range(size), key=abs)


@pytest.mark.parametrize("size", [30, 1000])
@pytest.mark.parametrize("work", [spell, order])
def test_linear_work_passes(work: Callable[[int], object], size: int) -> None:
    assert_linear(work, int, size)


def test_calls_are_counted_alike_in_every_run() -> None:
    assert calls(all_pairs, 10) == calls(all_pairs, 10) == 104
    with pytest.raises(ZeroDivisionError):
        calls(lambda number: 1 / number, 0)
    assert sys.getprofile() is None


def insert_in_front(size: int) -> None:
    found: list[int] = []
    for number in range(size):
        found.insert(0, number)


def find_from_every_place(size: int) -> None:
    text = "x" * size
    for place in range(size):
        text.find("y", place)


def backtrack(size: int) -> None:
    re.search("x*y", "x" * size)


@pytest.mark.parametrize(
    ("work", "size"), [(insert_in_front, 5000), (find_from_every_place, 20_000), (backtrack, 2000)]
)
def test_quadratic_work_inside_of_calls_fails(work: Callable[[int], object], size: int) -> None:
    with pytest.raises(AssertionError, match=r"8 times the input .* times as long"):
        assert_linear_time(work, int, size)


@pytest.mark.parametrize("size", [10, 1000, 50_000])
@pytest.mark.parametrize("work", [range, lambda size: sorted(map(str, range(size, 0, -1))), lambda size: "x" * size])
def test_linear_work_inside_of_calls_passes(work: Callable[[int], object], size: int) -> None:
    assert_linear_time(work, int, size)


def test_what_was_seen_before_is_not_measured_again() -> None:
    given: list[int] = []
    assert_linear_time(given.append, int, 100)
    assert len(given) == len(set(given))
