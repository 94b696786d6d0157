"""What the first reading of a text found in each of its buffers, so that the second does not search them again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ncdiag.formats.secrets.remover import Begun

__all__ = ["Buffer", "Searched"]

_ROOM = 16 << 20
"""Maximum number of characters of changed lines, and of bytes of shapes, that are kept for one text."""
_KINDS, _ALL_KINDS = 1 << 10, 1 << 18
"""Maximum number of shapes that are kept for one buffer, and for all buffers together."""


class Buffer(NamedTuple):
    """A buffer: its lines with secrets, without these, and the ``shapes`` of all its lines; None if there are many.

    ``begun`` is what goes on in the next buffer, such as a private key. No secret is stored.
    """

    size: int
    digest: int
    lines: int
    changed: Mapping[int, str]
    secrets: int
    shapes: frozenset[bytes] | None
    begun: Begun


class Searched:
    """The buffers of a text in order, as far as there is room for what was found in them."""

    def __init__(self) -> None:
        """Nothing was searched yet."""
        self._buffers: list[Buffer] = []
        self._shapes: dict[bytes, bytes] = {}
        self._room, self._kinds, self._bytes = _ROOM, _ALL_KINDS, _ROOM

    def add(self, buffer: bytes, shapes: list[bytes], changed: Mapping[int, str], secrets: int, begun: Begun) -> None:
        """Keep what was found in the next buffer."""
        self._room -= sum(map(len, changed.values()))
        if self._room >= 0:
            kinds = self._known(set(shapes))
            self._buffers.append(Buffer(len(buffer), hash(buffer), len(shapes), changed, secrets, kinds, begun))

    def _known(self, shapes: set[bytes]) -> frozenset[bytes] | None:
        """The shapes, each stored once for all buffers."""
        self._kinds -= len(shapes)
        if len(shapes) > _KINDS or self._kinds < 0:
            return None
        self._bytes -= sum(map(len, shapes - self._shapes.keys()))
        return frozenset(self._shapes.setdefault(shape, shape) for shape in shapes) if self._bytes >= 0 else None

    def at(self, number: int, buffer: bytes) -> Buffer | None:
        """What was found in the buffer with that number; None if that is not known, or the text has changed since."""
        if number >= len(self._buffers):
            return None
        found = self._buffers[number]
        return found if found.size == len(buffer) and found.digest == hash(buffer) else None

    def begun(self, number: int) -> Begun:
        """What goes on in the buffer with that number."""
        return self._buffers[number - 1].begun if 0 < number <= len(self._buffers) else Begun()
