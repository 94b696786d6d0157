"""Where lines stand in a text whose lines each stand behind a line end, and what numbers they have."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

WORDS_LIMIT = 12
"""Words of launchers and log collectors that may stand before NCCL's own prefix."""


class LineCounter:
    """Line numbers of rising offsets: the line ends between two of them are counted, none twice."""

    def __init__(self, text: bytes, numbers: Sequence[int]) -> None:
        """``numbers`` has one for each line."""
        self._text, self._numbers, self.offset, self._index = text, numbers, 0, -1

    def at(self, offset: int) -> int:
        """Number of the line that begins at ``offset``; lower ones than before are not asked for."""
        self._index += self._text.count(b"\n", self.offset, offset)
        self.offset = max(offset, self.offset)
        return self._numbers[self._index]

    def again(self) -> LineCounter:
        """A counter that begins at the first line."""
        return LineCounter(self._text, self._numbers)


def stretches(text: bytes, breaks: re.Pattern[bytes]) -> list[tuple[int, int]]:
    """The lines behind the line ends that the pattern finds: where they begin and end."""
    found = []
    for hit in breaks.finditer(text):
        start = hit.start() + 1
        end = text.find(b"\n", start)
        found.append((start, end if end >= 0 else len(text)))
    return found


def words_before(text: bytes, places: list[tuple[int, int]]) -> int | None:
    """How many words stand before ``host:pid:tid [dev]`` in most of these lines."""
    counts: Counter[int] = Counter()
    for start, end in places[:200]:
        place = text.find(b" NCCL INFO ", start, end)
        if place >= 0:
            counts[text.count(b" ", start, place) - 1] += 1
    words, count = counts.most_common(1)[0] if counts else (0, 0)
    return words if count and 0 <= words <= WORDS_LIMIT else None
