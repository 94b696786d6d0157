"""What differs in a window of time from the time before it: kinds of lines that are new, and kinds that stopped.

Two lines are of one kind if they differ only in numbers.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.stamps import stamps
from ncdiag.text.window.bounds import Bounds, Changed, Clock

MOST = 5
"""Maximum number of differences."""
_KINDS = 1 << 16
"""Maximum number of kinds of lines that are remembered."""
_LONGEST = 400
_NUMBER = lazy_regex(rb"0x[0-9a-fA-F]+|\d+")
_STAMP = lazy_regex(rb"^.{0,200}?\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?\]?")
_REGULAR = 5
"""Minimum number of lines of a kind from which on it is missed when it stops."""
_MISSED = 3
"""Number of lines of a kind that must be missing."""
_SHORTEST = 10.0
"""Seconds without a line after which a kind may be missed."""


class _Kind(msgspec.Struct):
    first: float
    last: float
    source: str
    line: int
    text: bytes
    before: int = 0
    count: int = 0


class Comparison:
    """Compares the lines from ``border`` on with those before it."""

    def __init__(self, border: float) -> None:
        """``border``: the moment at which the window begins."""
        self._border = border
        self._kinds: dict[bytes, _Kind] = {}
        self._end = border
        self.has_before = False

    def read(self, source: str, buffers: Iterable[bytes], bounds: Bounds) -> Iterator[bytes]:
        """Pass the buffers of a source on, and count the kinds of their lines."""
        clock, moment, number = Clock(bounds), None, 1
        for buffer in buffers:
            yield buffer
            starts = {start: clock.value(stamp) for start, stamp in stamps(buffer)}
            at = 0
            for line in buffer.split(b"\n")[:-1]:
                moment = starts.get(at, moment)
                if moment is not None and line:
                    self._count(source, number, line, moment)
                at += len(line) + 1
                number += 1

    def _count(self, source: str, number: int, line: bytes, moment: float) -> None:
        text = line[:_LONGEST]
        shape = _NUMBER.sub(b"0", _STAMP.sub(b"", text))
        kind = self._kinds.get(shape)
        is_before = moment < self._border
        self.has_before |= is_before
        self._end = max(self._end, moment)
        if kind is None:
            if len(self._kinds) >= _KINDS or not shape.strip(b" 0\t|-=:.[]"):
                return
            kind = self._kinds[shape] = _Kind(moment, moment, source, number, text)
        if moment >= kind.last and (is_before or kind.before):  # of a new kind, the first line is shown
            kind.source, kind.line, kind.text = source, number, text
        kind.first, kind.last = min(kind.first, moment), max(kind.last, moment)
        kind.before += is_before
        kind.count += 1

    def found(self, first_lines: dict[str, int]) -> tuple[Changed, ...]:
        """The first differences, in the order of their times, new lines first; none if no line came before the window.

        ``first_lines``: the number of the first line of each source that was read.
        """
        if not self.has_before:
            return ()
        changes = (change for kind in self._kinds.values() if (change := self._of(kind, first_lines)) is not None)
        return tuple(heapq.nsmallest(MOST, changes, key=lambda one: (one.time, one.what, one.source, one.line)))

    def _of(self, kind: _Kind, first_lines: dict[str, int]) -> Changed | None:
        line = kind.line + first_lines.get(kind.source, 1) - 1
        text = kind.text.decode("utf-8", "replace")
        if not kind.before:
            return Changed("new", kind.first, kind.source, line, text)
        if kind.count < _REGULAR:
            return None
        every = (kind.last - kind.first) / (kind.count - 1)
        due = kind.last + every
        if self._end - kind.last < max(_MISSED * every, _SHORTEST) or due < self._border:
            return None
        return Changed("stopped", due, kind.source, line, text, every)
