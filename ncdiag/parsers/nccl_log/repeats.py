"""Lines that come again and again, letter for letter: what is counted about them is known from the first time.

A job that makes many communicators prints the channels of each, so a long log of it has few different lines. Whether
that is so is found out by trying; a log whose lines have times or other ids in front is left alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

LIMIT = 1 << 15
"""Different lines that are remembered; with many more it is faster to take each apart."""
LENGTH_LIMIT = 1000
_MISSES = 4
_FIRST_WAIT, _LAST_WAIT = 8, 128
"""Buffers that are left alone when so many before them had mostly new lines."""


class Repeats:
    """Remembers the keys of lines that tell nothing but what is counted of them."""

    def __init__(self) -> None:
        """Remember nothing."""
        self._keys: dict[bytes, bytes] = {}
        self._same: dict[bytes, bytes] = {}
        self._misses, self._pause, self._next_pause = 0, 0, _FIRST_WAIT

    def paused(self) -> bool:
        """Is this a buffer for which it was given up? To be asked once a buffer."""
        self._pause = max(self._pause - 1, 0)
        return self._pause > 0

    def keys(self, lines: Sequence[bytes]) -> list[bytes | None] | None:
        """The key of each line, None for those that are not known; None when most are not."""
        keys = list(map(self._keys.get, lines))
        if keys.count(None) * 4 > len(lines):
            self._misses += 1
            if self._misses > _MISSES:
                self._give_up()
            return None
        self._misses, self._next_pause = 0, _FIRST_WAIT
        return keys

    def learn(self, lines: Sequence[bytes], keys: Sequence[bytes], telling: Iterable[int]) -> None:
        """Remember lines with their keys, except the ``telling`` ones, which tell something each time they come."""
        if max(map(len, lines), default=0) >= LENGTH_LIMIT:
            return
        self._keys.update(zip(lines, map(self._same.setdefault, keys, keys), strict=True))
        for index in telling:
            self._keys.pop(lines[index], None)
        if len(self._keys) > LIMIT:
            self._keys.clear()
            self._same.clear()
            self._give_up()

    def _give_up(self) -> None:
        self._misses, self._pause = 0, self._next_pause
        self._next_pause = min(2 * self._next_pause, _LAST_WAIT)
