"""Lines that come again and again, letter for letter: they are counted, and scanned only the first time.

A job that makes many communicators prints the channels of each, so a long log of it has few different lines. Whether
that is so is found out by trying; a log whose lines have times or other ids in front is left alone.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Sequence

LIMIT = 1 << 16
"""Different lines that are remembered."""
LENGTH_LIMIT = 1000
_SAMPLE = 16
_MISSES = 4
_FIRST_WAIT, _LAST_WAIT = 8, 128
"""Buffers that are left alone when so many before them had mostly new lines."""


class Repeats:
    """Remembers lines that tell nothing new when they come again; counts how often they do."""

    def __init__(self) -> None:
        """Remember nothing."""
        self._counts: Counter[bytes] = Counter()
        self._misses, self._pause, self._next_pause = 0, 0, _FIRST_WAIT

    @property
    def is_full(self) -> bool:
        """Are there so many that they should be taken and forgotten?"""
        return len(self._counts) > LIMIT

    def paused(self) -> bool:
        """Is this a buffer for which it was given up? To be asked once a buffer."""
        self._pause = max(self._pause - 1, 0)
        return self._pause > 0

    def new(self, lines: Sequence[bytes]) -> list[int] | None:
        """The indices of lines that are not known; the others are counted. None, and no count, when most are new."""
        sample = lines[::_SAMPLE]
        if sum(line not in self._counts for line in sample) * 4 > len(sample):
            self._misses += 1
            if self._misses > _MISSES:
                self._give_up()
            return None
        self._misses, self._next_pause = 0, _FIRST_WAIT
        known = len(self._counts)
        self._counts.update(lines)
        unknown = dict.fromkeys(itertools.islice(self._counts, known, None))
        for line in unknown:
            del self._counts[line]
        return list(itertools.compress(range(len(lines)), map(unknown.__contains__, lines))) if unknown else []

    def learn(self, lines: Iterable[bytes], telling: set[bytes]) -> None:
        """Remember lines that were scanned, except those that tell something each time."""
        new = set(lines).difference(telling, self._counts.keys())
        if len(max(new, key=len, default=b"")) < LENGTH_LIMIT:
            dict.update(self._counts, dict.fromkeys(new, 0))

    def take(self) -> list[tuple[bytes, int]]:
        """How often which line came again; when there are too many, all are forgotten and it pauses."""
        taken = [(line, count) for line, count in self._counts.items() if count]
        if self.is_full:
            self._counts.clear()
            self._give_up()
        dict.update(self._counts, dict.fromkeys(self._counts, 0))
        return taken

    def _give_up(self) -> None:
        self._misses, self._pause = 0, self._next_pause
        self._next_pause = min(2 * self._next_pause, _LAST_WAIT)
