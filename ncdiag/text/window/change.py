"""What differs in a window of time from the time before it: kinds of lines that are new, that stopped, or came slower.

Two lines are of one kind if they differ only in numbers.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterable, Iterator

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.stamps import stamps
from ncdiag.text.window.bounds import Bounds, Changed, Clock

MOST = 5
"""Maximum number of differences."""
_KINDS = 1 << 16
"""Maximum number of kinds of lines that are remembered."""
_LONGEST, _NAMES = 400, 2000
"""Maximum length of a line that is compared, and maximum number of names."""
_NUMBER = lazy_regex(rb"0x[0-9a-fA-F]+|\d+")
_STAMP = lazy_regex(rb"^.{0,200}?\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?\]?")
_REGULAR = 5
"""Minimum number of lines of a kind from which on it is missed when it stops."""
_MISSED = 3
"""Number of lines of a kind that must be missing."""
_SHORTEST = 10.0
"""Seconds without a line after which a kind may be missed."""
_SLOWER = 2.0
"""A pause is long if it is so many times as long as the longest one before the window; one long pause is a save."""
_LONG, _MOST_LONG = 3, 0.75
"""Minimum number of long pauses of a kind that became slower, and their share in all that are no burst."""


class _Late(msgspec.Struct):
    """The pauses of a kind in the window: how many count, how many are long, and the first long one."""

    all: int = 0
    long: int = 0
    seconds: float = 0.0
    since: float = 0.0
    source: str = ""
    line: int = 0
    text: bytes = b""


class _Kind(msgspec.Struct):
    first: float
    last: float
    source: str
    line: int
    text: bytes
    before: int = 0
    count: int = 0
    seen: tuple[str, float] | None = None
    """The source and the time of the latest line."""
    longest: float = 0.0
    """The longest pause before the window, in seconds."""
    late: _Late | None = None


class Comparison:
    """Compares the lines from ``border`` on with those before it."""

    def __init__(self, border: float, names: Iterable[str] = ()) -> None:
        """``border``: the moment at which the window begins; lines that differ only in ``names`` are of one kind."""
        self._border = border
        words = b"|".join(re.escape(name.encode()) for name in sorted(names, key=len, reverse=True)[:_NAMES])
        self._names = re.compile(rb"(?<![\w-])(?:" + words + rb")(?![\w-])") if words else None
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
        bare = _STAMP.sub(b"", text)
        shape = _NUMBER.sub(b"0", bare if self._names is None else self._names.sub(b"host", bare))
        kind = self._kinds.get(shape)
        is_before = moment < self._border
        self.has_before |= is_before
        self._end = max(self._end, moment)
        if kind is None:
            if len(self._kinds) >= _KINDS or not shape.strip(b" 0\t|-=:.[]"):
                return
            kind = self._kinds[shape] = _Kind(moment, moment, source, number, text)
        self._pause(kind, source, number, text, moment)
        if moment >= kind.last and (is_before or kind.before):  # of a new kind, the first line is shown
            kind.source, kind.line, kind.text = source, number, text
        kind.first, kind.last = min(kind.first, moment), max(kind.last, moment)
        kind.before += is_before
        kind.count += 1

    def _pause(self, kind: _Kind, source: str, number: int, text: bytes, moment: float) -> None:
        """Count the pause before a line; lines of other sources are no end of one."""
        earlier = kind.seen[1] if kind.seen is not None and kind.seen[0] == source else moment
        kind.seen = source, moment
        pause = moment - earlier
        if moment < self._border:
            kind.longest = max(kind.longest, pause)
        elif kind.before >= _REGULAR and pause >= kind.longest / 2 and pause > 0:
            late = kind.late = kind.late or _Late()
            late.all += 1
            if pause > _SLOWER * max(kind.longest, 1.0):
                if not late.long:
                    late.since, late.source, late.line, late.text = earlier, source, number, text
                late.long += 1
                late.seconds += pause

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
        late = kind.late
        if late is not None and late.long >= max(_LONG, _MOST_LONG * late.all):
            line = late.line + first_lines.get(late.source, 1) - 1
            return Changed(
                "slower", late.since + kind.longest, late.source, line, late.text.decode("utf-8", "replace"),
                every=kind.longest, now=late.seconds / late.long,
            )  # fmt: skip
        every = (kind.last - kind.first) / (kind.count - 1)
        due = kind.last + every
        if self._end - kind.last < max(_MISSED * every, _SHORTEST) or due < self._border:
            return None
        return Changed("stopped", due, kind.source, line, text, every)
