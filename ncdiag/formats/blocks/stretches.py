"""Blocks of consecutive lines, and paragraphs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence


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


def end_of_paragraph(lines: Sequence[str], index: int, gap: int = 0) -> int:
    """The last line of the paragraph of a line; empty lines up to ``gap`` of them do not end it."""
    last = index
    for at in range(index + 1, len(lines)):
        if lines[at].strip():
            last = at
        elif gap and at == index + 1:
            gap -= 1
        else:
            break
    return last
