"""Make a source readable twice: files are opened again, streams are stored, beyond some size on disk."""

from __future__ import annotations

import tempfile
import weakref
from collections.abc import Iterator

from ncdiag.text import File, Text, without_base64

_IN_MEMORY = 32 << 20
_PIECE = 1 << 20
_HELD = 64 << 20
"""Maximum number of bytes of a file that are held in memory between readings."""
_DECODED = 1 << 20
"""Maximum number of bytes of a text in which base64 is decoded, as in reading."""


class Spooled(Text):
    """The source, readable repeatedly, with the base64 in it decoded: nothing in it could be recognised otherwise."""

    def __init__(self, source: Text) -> None:
        """A source that can be read only once is read here."""
        self.name, self.notes = source.name, source.notes
        self._source = source
        self._held: list[bytes] | None = None
        self._kept: tempfile.SpooledTemporaryFile[bytes] | None = None
        if not isinstance(source, File) or source.path is None:
            self._kept = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115  (it goes with this object)
            weakref.finalize(self, self._kept.close)
            self._kept.writelines(_decoded(source.buffers()))
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
        for buffer in _decoded(self._source.buffers()):
            size += len(buffer)
            if size <= _HELD:
                held.append(buffer)
            yield buffer
        self.notes = self._source.notes
        self._held = held if size <= _HELD else None


def _decoded(buffers: Iterator[bytes]) -> Iterator[bytes]:
    held: list[bytes] = []
    size = 0
    for buffer in buffers:
        held.append(buffer)
        size += len(buffer)
        if size > _DECODED:
            yield from held
            yield from buffers
            return
    text = b"".join(held).decode("utf-8", "surrogateescape")
    plain = without_base64(text)
    yield from held if plain == text else [plain.encode("utf-8", "surrogateescape")]
