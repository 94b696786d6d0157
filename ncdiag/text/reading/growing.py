"""A source that grows: what is added is read once, and its content so far can be judged at any time.

A short source is kept and read as a paste, as if it had been read as a whole. A longer one is filtered piece by piece,
like the parts of a long file (`ncdiag.text.reading.parts`), so that memory does not grow with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from ncdiag.parsers import discover
from ncdiag.parsers.nccl_log import Scanner
from ncdiag.text.reading.model import Reading
from ncdiag.text.reading.one import read_source
from ncdiag.text.reading.parse import collection_paused, put_together
from ncdiag.text.reading.sieve import Sieve
from ncdiag.text.sections.cut import Cutter
from ncdiag.text.sections.undress import LIMIT
from ncdiag.text.sources.files import TextSource
from ncdiag.text.sources.text import BUFFER_SIZE, Cleaner, clean_part

if TYPE_CHECKING:
    from ncdiag.text.window.bounds import Window
    from ncdiag.text.window.cut import Cut

_WARN = b"NCCL WARN"
_NCCL = (b"NCCL INFO", b"NCCL version", _WARN)

TAIL = 1 << 14
"""Number of bytes at the end of a source that are always kept unchanged."""


class Growing:
    """Receives the data appended to a source. ``size`` counts bytes; ``told`` rises when there may be something new."""

    def __init__(self, name: str, keeps: int = LIMIT, window: Window | None = None) -> None:
        """``name`` is that of the source. Up to ``keeps`` bytes are kept unchanged.

        ``window``: the lines outside of this window of time are read as empty lines.
        """
        self.name, self.size, self.told = name, 0, 0
        self.has_nccl = False
        """True once NCCL has printed a line."""
        self.notes: list[str] = []
        self.tail = b""
        """The last `TAIL` bytes."""
        self._keeps, self._held = keeps, list[bytes]()
        self._window, self._rest = window, b""
        self._cut: Cut | None = None
        self._long: _Long | None = None

    def feed(self, data: bytes) -> None:
        """Add bytes, which may end anywhere in a line."""
        self._take(data if self._window is None else self._windowed(data, self._window))

    def _windowed(self, data: bytes, window: Window) -> bytes:
        """The complete lines that are in the window; the bounds are found from the first of them."""
        from ncdiag.text.window.cut import begun  # most sources are read whole

        data = self._rest + data
        end = data.rfind(b"\n") + 1
        lines, self._rest = data[:end], data[end:]
        if self._cut is None and lines:
            self._cut = begun(window, lines)
        return self._cut.feed(lines) if self._cut is not None else b""

    def _take(self, data: bytes) -> None:
        self.size += len(data)
        self.tail = (self.tail + data)[-TAIL:] if len(data) < TAIL else data[-TAIL:]
        self.has_nccl = self.has_nccl or any(words in data for words in _NCCL)
        if self._long is None and self.size <= self._keeps:
            self._held.append(data)
            self.told += bool(data)
            return
        if self._long is None:
            self._long = _Long(self.name)
            data, self._held = b"".join([*self._held, data]), []
        self.told += self._long.feed(data)

    def reading(self) -> Reading:
        """The reading of the source so far.

        Afterwards nothing more can be fed: to continue, call this in a fork of the process
        (`ncdiag.apps.watching.judging`).
        """
        if self._long is not None:
            return self._long.reading(self.notes)
        read = read_source(TextSource.of_bytes(self.name, b"".join(self._held)))
        return msgspec.structs.replace(read, notes=(*read.notes, *self.notes))


class _Long:
    """A source that is too long to be kept."""

    def __init__(self, name: str) -> None:
        self._name, self._rest, self._first = name, b"", True
        self._cleaner, self._scanner, self._cutter = Cleaner(), Scanner(name), Cutter(name, discover())
        self._sieve = Sieve(self._scanner, self._cutter)

    def feed(self, data: bytes) -> bool:
        """Read the complete lines; an incomplete last line waits unless it is too long. True if one is informative."""
        data = self._rest + data
        end = data.rfind(b"\n") + 1
        if not end and len(data) > BUFFER_SIZE:
            end = len(data)
        self._rest = data[end:]
        return self._read(data[:end]) if end else False

    def _read(self, lines: bytes) -> bool:
        kept = 0
        with collection_paused():
            for buffer in clean_part([lines], self._cleaner, first=self._first):
                kept += len(self._sieve.feed(buffer))
        self._first = False
        return kept > 0 or _WARN in lines

    def reading(self, notes: list[str]) -> Reading:
        if self._rest:
            self._read(self._rest)
        scanned, sections, lines = self._scanner.finish(), self._cutter.finish(), self._scanner.next_line - 1
        notes = [*self._cleaner.notes(), *notes]
        skipped = self._cutter.skipped_lines
        return put_together(self._name, scanned, sections, skipped, lines, notes, self._sieve.dropped)
