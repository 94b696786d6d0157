"""Asserts that work grows with its input and not with the square of it, however busy or slow the machine is."""

from __future__ import annotations

import gc
from collections.abc import Callable
from time import process_time
from typing import TypeVar

T = TypeVar("T")

TIMES = 8
"""How much larger the larger input is: linear work takes 8 times as long, quadratic work 64 times."""
SLACK = 3
"""Linear work may take this much longer than it should: caches of the processor, logarithms, noise."""
ROUNDS = 5
"""Times that the larger input is tried before its time counts as too long."""
NOTHING = 0.05
"""Seconds that no input is too long for: under them, what the larger input takes is the caches' doing, no square's."""
LEAST, MOST, ENOUGH = 3, 20, 0.02
"""The smaller input is tried so often at least and at most, and until so many seconds have been measured."""


def assert_linear(work: Callable[[T], object], make: Callable[[int], T], size: int) -> None:
    """Fail unless ``work(make(8 * size))`` takes at most 24 times as long as ``work(make(size))``, or next to nothing.

    Seconds are those of the CPU in this process, the best of several rounds, so that neither other programs nor a slow
    machine change the answer. ``size`` must be large enough for a quadratic part to outweigh all others at eight times
    the size. Each round has an input of a different size, so that no cache answers for the one before.
    """
    collects = gc.isenabled()
    gc.disable()  # a collection would look at what all tests before have left
    try:
        _assert_linear(work, make, size)
    finally:
        if collects:
            gc.enable()


def again(piece: str, start: str = "") -> Callable[[int], str]:
    """What makes texts of ``start`` and so many pieces."""
    return lambda size: start + piece * size


def _assert_linear(work: Callable[[T], object], make: Callable[[int], T], size: int) -> None:
    cpu_seconds(work, make(size - 1))  # compiles, imports and fills tables
    small: list[float] = []
    while len(small) < LEAST or (sum(small) < ENOUGH and len(small) < MOST):
        small.append(cpu_seconds(work, make(size + len(small))))
    large: list[float] = []
    while len(large) < ROUNDS:
        large.append(cpu_seconds(work, make(TIMES * size + len(large))))
        if min(large) <= max(SLACK * TIMES * min(small), NOTHING):
            return
    times = min(large) / min(small)
    msg = f"{TIMES} times the input (of {size}) took {times:.0f} times as long: {min(small):.2g} s, {min(large):.2g} s"
    raise AssertionError(msg)


def cpu_seconds(work: Callable[[T], object], given: T) -> float:
    """CPU seconds of this process that ``work(given)`` takes."""
    begin = process_time()
    work(given)
    return process_time() - begin
