"""Asserts that work grows with its input and not with the square of it, however busy or slow the machine is.

`assert_linear` counts calls, which are the same in every run. Work inside of a call, such as a regular expression that
goes back and forth over a text, makes no calls: `assert_linear_time` measures it.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from time import process_time
from types import FrameType
from typing import TypeVar

T = TypeVar("T")

TIMES = 8
"""How much larger the larger input is: linear work takes 8 times as much, quadratic work 64 times."""
SLACK = 1.25
"""Linear work may take this much more than it should: logarithms, sets of names that fill up."""
SLACK_IN_TIME = 3
"""Linear work may take this much longer than it should: caches of the processor, noise."""
ROUNDS = 5
"""Times that the larger input is tried before its time counts as too long."""
NOTHING = 0.05
"""CPU seconds that are not too long for any input: below them, caches decide and not the growth of the work."""


def assert_linear(work: Callable[[T], object], make: Callable[[int], T], size: int) -> None:
    """Fail unless ``work(make(8 * size))`` makes at most 10 times as many calls as ``work(make(size))``.

    Calls of functions in Python and in C count alike, and each value that a generator yields. ``size`` must be large
    enough for the calls that depend on it to outweigh all others.
    """
    work(make(size - 1))  # compiles, imports and fills tables
    small, large = (calls(work, make(number)) for number in (size, TIMES * size))
    if large > SLACK * TIMES * small:
        msg = f"{TIMES} times the input (of {size}) took {large / small:.0f} times as many calls: {small}, {large}"
        raise AssertionError(msg)


def assert_linear_time(work: Callable[[T], object], make: Callable[[int], T], size: int) -> None:
    """Fail unless ``work(make(8 * size))`` takes at most 24 times as long as ``work(make(size))``, or next to nothing.

    The time is that of the CPU in this process, the best of several rounds, so that neither other programs nor a slow
    machine change the answer. ``size`` must be large enough for a quadratic part to outweigh all others at eight times
    the size. Each round has an input of a different size, so that no cache answers for the one before.
    """
    collects = gc.isenabled()
    gc.disable()  # a collection would look at what all tests before have left
    try:
        _assert_linear_time(work, make, size)
    finally:
        if collects:
            gc.enable()


def again(piece: str, start: str = "") -> Callable[[int], str]:
    """What makes texts of ``start`` and a number of pieces."""
    return lambda size: start + piece * size


def calls(work: Callable[[T], object], given: T) -> int:
    """The number of calls that ``work(given)`` makes."""
    count = 0

    def note(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        if event in {"call", "c_call"}:
            count += 1

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work(given)
    finally:
        sys.setprofile(before)
    return count


def cpu_seconds(work: Callable[[T], object], given: T) -> float:
    """CPU seconds of this process that ``work(given)`` takes."""
    begin = process_time()
    work(given)
    return process_time() - begin


def _assert_linear_time(work: Callable[[T], object], make: Callable[[int], T], size: int) -> None:
    large: list[float] = []
    small: list[float] = []
    cpu_seconds(work, make(size - 1))  # compiles, imports and fills tables
    while len(large) < ROUNDS:
        large.append(cpu_seconds(work, make(TIMES * size + len(large))))
        if min(large) <= NOTHING:
            return
        small.append(cpu_seconds(work, make(size + len(small))))
        if min(large) <= SLACK_IN_TIME * TIMES * min(small):
            return
    times = min(large) / min(small)
    msg = f"{TIMES} times the input (of {size}) took {times:.0f} times as long: {min(small):.2g} s, {min(large):.2g} s"
    raise AssertionError(msg)
