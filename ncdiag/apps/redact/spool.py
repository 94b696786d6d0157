"""Make a source readable twice: files are opened again, streams are stored, beyond some size on disk."""

from __future__ import annotations

import tempfile
import weakref
from collections.abc import Iterator

from ncdiag.text import File, Text

_IN_MEMORY = 32 << 20
_PIECE = 1 << 20
_HELD = 64 << 20
"""Maximum number of bytes of a file that are held in memory between readings."""


class Spooled(Text):
    """The source, readable repeatedly."""

    def __init__(self, source: Text) -> None:
        """A source that can be read only once is read here."""
        self.name, self.notes = source.name, source.notes
        self._source = source
        self._held: list[bytes] | None = None
        self._kept: tempfile.SpooledTemporaryFile[bytes] | None = None
        if not isinstance(source, File) or source.path is None:
            self._kept = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115  (it goes with this object)
            weakref.finalize(self, self._kept.close)
            self._kept.writelines(source.buffers())
            self.notes = source.notes

    def buffers(self) -> Iterator[bytes]:
        """The buffers of the source, which end at line ends."""
        if self._held is not None:
            yield from self._held
            return
        if self._kept is None:
            yield from self._read()
            return
        self._kept.seek(0)
        while lines := self._kept.readlines(_PIECE):
            yield b"".join(lines)

    def _read(self) -> Iterator[bytes]:
        """The buffers of a file, held for the next time if they are small, because unpacking its records is slow."""
        held: list[bytes] = []
        size = 0
        for buffer in self._source.buffers():
            size += len(buffer)
            if size <= _HELD:
                held.append(buffer)
            yield buffer
        self.notes = self._source.notes
        self._held = held if size <= _HELD else None
