"""Blocks of consecutive lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


def stretches(indexes: Iterable[int]) -> Iterator[tuple[int, int]]:
    """The first and last of each run of consecutive indexes, which come in rising order."""
    begin = last = -1
    for index in indexes:
        if last >= 0 and index != last + 1:
            yield begin, last
        if last < 0 or index != last + 1:
            begin = index
        last = index
    if last >= 0:
        yield begin, last
