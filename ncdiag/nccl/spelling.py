"""The edit distance between two names."""

from __future__ import annotations

import functools


def distance(left: str, right: str, limit: int) -> int | None:
    """Return the number of edits between two names (insert, delete, replace, swap of neighbours); None above ``limit``.

    This is the optimal string alignment distance; the difference in length and the limit bound the work.
    """
    if abs(len(left) - len(right)) > limit:
        return None
    ours, others = _letters(left), _letters(right)
    if len(ours - others) > limit or len(others - ours) > limit:
        return None  # an edit brings in or removes at most one letter
    before: list[int] = []
    above = list(range(len(right) + 1))
    for row, one in enumerate(left, start=1):
        current = [row]
        for column, other in enumerate(right, start=1):
            cost = min(above[column] + 1, current[-1] + 1, above[column - 1] + (one != other))
            if row > 1 and column > 1 and one == right[column - 2] and left[row - 2] == other:
                cost = min(cost, before[column - 2] + 1)
            current.append(cost)
        if min(current) > limit:
            return None
        before, above = above, current
    return above[-1] if above[-1] <= limit else None


@functools.lru_cache(4096)
def _letters(name: str) -> frozenset[str]:
    return frozenset(name)
