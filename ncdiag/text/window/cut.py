"""The lines of a text that are in a window of time; the others become empty lines, so that numbers stay.

A line without a stamp belongs to the last stamp above it; lines above the first stamp belong to that. A text without
any stamp, such as the output of a tool, is read whole.
"""

from __future__ import annotations

import itertools
import math
from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from ncdiag.formats.moments import written
from ncdiag.formats.stamps import stamps
from ncdiag.text.sources.files import File, Opener
from ncdiag.text.sources.model import Text
from ncdiag.text.window.bounds import Bounds, Clock, Window, resolved
from ncdiag.text.window.change import Comparison
from ncdiag.text.window.extent import extent_of

SLACK = 60.0
"""Seconds by which the stamps of several processes in one log may be out of order."""
_HELD = 4 << 20
"""Maximum number of bytes held back while no stamp was found."""
_TAIL = 1 << 14
"""Bytes at the end of a buffer in which its last stamp is searched."""
_FULL = 1 << 19
"""Bytes from which on a buffer is passed on."""


class Cut:
    """Cuts the buffers of one text to a window. ``first_line`` is the number of the first line that was passed on."""

    def __init__(self, bounds: Bounds, *, numbers: bool = False, ends: tuple[float, float] | None = None) -> None:
        """``numbers``: also lines in front of the window become empty lines, for a text that is read while it grows.

        ``ends``: the first and last moment of a text whose stamps are known to grow: then the stamps inside of a buffer
        in the middle of the window are not read.
        """
        self._bounds, self._clock, self._grows = bounds, Clock(bounds), ends is not None
        self.first_line = 1
        self._begun = numbers
        self._inside: bool | None = None
        self._held = b""
        self._blank = 0
        self._low, self._high = ends or (math.inf, -math.inf)
        self._latest = -math.inf
        self._zones: set[int] = set()
        self._lacks: dict[str, float] = {}
        self._back: list[tuple[float, float]] = []
        self.kept = 0

    def feed(self, buffer: bytes) -> bytes:
        """The lines of a buffer that are in the window; the buffer ends at a line end."""
        out: list[bytes] = []
        if self._grows and self._inside and self._is_within(buffer):
            self._put(buffer, out)
            return b"".join(out)
        if self._inside is None:
            buffer, self._held = self._held + buffer, b""
        at = 0
        for start, stamp in stamps(buffer):
            value = self._clock.value(stamp)
            if stamp.zone is not None:
                self._zones.add(stamp.zone)
            if stamp.lacks:
                self._lacks.setdefault(stamp.lacks, value)
            self._notice(value)
            inside = self._bounds.since <= value <= self._bounds.until
            if self._inside is None:
                self._inside = inside
            if inside != self._inside:
                self._put(buffer[at:start], out)
                at, self._inside = start, inside
        if self._inside is None and len(buffer) < _HELD:
            self._held = buffer
            return b""
        self._put(buffer[at:], out)
        return b"".join(out)

    def _is_within(self, buffer: bytes) -> bool:
        """Are the first and the last stamp of the buffer in the middle of the window?"""
        low, high = self._bounds.since + SLACK, self._bounds.until - SLACK
        for found in (next(stamps(buffer), None), *deque(stamps(buffer, max(0, len(buffer) - _TAIL)), maxlen=1)):
            if found is None or not low <= self._clock.value(found[1]) <= high:
                return False
        return True

    def end(self) -> bytes:
        """What was held back: a text in which no stamp was found."""
        out: list[bytes] = []
        held, self._held = self._held, b""
        self._put(held, out)
        return b"".join(out)

    def _notice(self, value: float) -> None:
        if value < self._latest - SLACK:
            self._back.append((self._latest, value))
            self._latest = value
        self._latest = max(self._latest, value)
        self._low, self._high = min(self._low, value), max(self._high, value)

    def _put(self, piece: bytes, out: list[bytes]) -> None:
        """Pass a piece on, or count its lines where it is outside."""
        if not piece:
            return
        if self._inside is not False:
            out += [b"\n" * self._blank, piece]
            self._blank, self._begun = 0, True
            self.kept += piece.count(b"\n")
        elif self._begun:
            self._blank += piece.count(b"\n")
        else:
            self.first_line += piece.count(b"\n")

    def notes(self) -> list[str]:
        """Sentences on what was odd about the stamps, and on a window that holds nothing."""
        bounds, found = self._bounds, []
        if self._inside is None:
            return ["it has no stamps and was read whole"]
        if not self.kept:
            times = f"{bounds.written(self._low)} to {bounds.written(self._high)}"
            found.append(f"it has no line {bounds.text()}: its times go from {times}")
        if self._back:
            (high, low), count = self._back[0], len(self._back)
            back = f"its stamps go back {count} times" if count > 1 else "its stamps go back once"
            moved = f"first from {bounds.written(high)} to {bounds.written(low)}"
            found.append(f"{back}, {moved}; each line was taken by its stamp")
        if "year" in self._lacks:
            found.append(f"its stamps have no year; the first was read as {written(self._lacks['year'])}")
        if "date" in self._lacks:
            found.append(f"its stamps have no date; the first was read as {written(self._lacks['date'])}")
        if len(self._zones | ({bounds.zone} if bounds.zone is not None else set())) > 1:
            zones = ", ".join(written(0, zone)[-6:] for zone in sorted(self._zones))
            several = f"its stamps have several zones ({zones})"
            own = f"its stamps are in {zones}" if len(self._zones) == 1 else several
            found.append(f"{own}; the window is in {written(0, bounds.zone)[-6:]}")
        return found


def begun(asked: Window, lines: bytes) -> Cut:
    """The cut of a text that grows, from its first lines; line numbers stay."""
    return Cut(resolved(asked, [extent_of(lines)]), numbers=True)


def _cut(buffers: Iterator[bytes], cut: Cut) -> Iterator[bytes]:
    """The buffers cut to a window, small ones joined: a short window is read as a short text."""
    held: list[bytes] = []
    size = 0
    for buffer in buffers:
        piece = cut.feed(buffer)
        if piece:
            held.append(piece)
            size += len(piece)
        if size >= _FULL:
            yield b"".join(held)
            held, size = [], 0
    yield b"".join([*held, cut.end()])


class Range(NamedTuple):
    """The bytes of a file that are read: ``size`` bytes from what ``opener`` opens; ``note`` is a sentence about them.

    ``ends``: the first and the last moment of the whole file.
    """

    opener: Opener
    size: int
    ends: tuple[float, float] | None = None
    note: str = ""


class WindowedFile(File):
    """A file, or a range of its bytes, cut to a window; it can be pickled."""

    def __init__(self, file: File, bounds: Bounds, part: Range | None = None) -> None:
        """``part``: the bytes to read, None for all."""
        part = part or Range(file.opener, file.size)
        super().__init__(file.name, part.opener, part.size)
        self.bounds, self._ends, self._note = bounds, part.ends, part.note

    def buffers(self) -> Iterator[bytes]:
        """The lines in the window, and empty lines between them."""
        cut = Cut(self.bounds, ends=self._ends)
        yield from _cut(super().buffers(), cut)
        self.first_line = cut.first_line
        self.notes += [*([self._note] if self._note and cut.kept else []), *cut.notes()]


class WindowedText(Text):
    """A text that can be read only once, cut to a window whose bounds are known from its first lines."""

    def __init__(self, text: Text, asked: Window) -> None:
        """``text`` is read at most once through this object."""
        self.name, self.notes = text.name, []
        self.bounds: Bounds | None = None
        self.comparison: Comparison | None = None
        self._text, self._asked = text, asked

    def buffers(self) -> Iterator[bytes]:
        """The lines in the window, and empty lines between them."""
        buffers = self._text.buffers()
        # the end of a stream is known once it was read
        first = b"".join(buffers) if self._asked.compare is not None else next(buffers, b"")
        self.bounds = resolved(self._asked, [extent_of(first, ends=self._asked.compare is not None)])
        cut = Cut(self.bounds)
        found = _cut(itertools.chain([first], buffers), cut)
        if self._asked.compare is not None:
            self.comparison = Comparison(self.bounds.since + self._asked.compare)
            found = self.comparison.read(self.name, found, self.bounds)
        yield from found
        self.first_line, self.notes = cut.first_line, [*self._text.notes, *cut.notes()]
