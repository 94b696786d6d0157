"""Read a source for its names, without its secrets."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from ncdiag.apps.redact.hosts import HINTS
from ncdiag.formats.secrets.remover import Secrets
from ncdiag.formats.secrets.shapes import NAME, Shapes
from ncdiag.text import Text

__all__ = ["WithoutSecrets"]

_SHORT = 2 << 20
"""Maximum size in bytes of a text that is read completely to find names that only parsers recognise."""
_ALIKE, _FEW, _SHAPES = 64, 16, 1 << 16
_HEAD = re.compile(r"[\w.-]{1,80}(?=:\d+:\d+ \[|: )|\[[\w.-]{1,80}:")


class WithoutSecrets(Text):
    """A source without its secrets, so that none of them is taken for a name.

    Of a long source, only some of the lines that differ only in digits are returned: it is read for names, not events.
    """

    def __init__(
        self, source: Text, secrets: Secrets | None = None, learn: Callable[[str], None] = lambda _: None
    ) -> None:
        """``source`` may be read again later, with its secrets. ``learn`` receives the lines that may contain names."""
        self.name, self.notes = source.name, source.notes
        self._source, self._secrets, self._learn = source, secrets or Secrets(), learn
        self._heads: set[str] = set()
        self._times: dict[bytes, int] = {}
        self._seen: dict[bytes, int] = {}

    def buffers(self) -> Iterator[bytes]:
        """The buffers of the source without secrets."""
        shapes = Shapes(lambda shape: HINTS.search(shape) is not None)
        size = 0
        for buffer in self._source.buffers():
            size += len(buffer)
            lines, likes, flags = shapes.flags(buffer)
            found = self._secrets.changed(lines, likes, flags)
            for index, flag in flags:
                if flag & NAME:
                    self._look(likes[index], found.get(index) or lines[index])
            whole = lines.joined(found) if found else buffer
            yield whole if size < _SHORT else self._few(whole.split(b"\n") if found else lines.raw, likes)

    def _look(self, shape: bytes, line: str) -> None:
        """Learn the names in a line; of similar lines only in the first ones, and their senders."""
        count = self._times.get(shape, 0)
        if count <= _ALIKE:
            self._times[shape] = count + 1
            self._learn(line)
        elif (head := _HEAD.match(line)) and head[0] not in self._heads:
            self._heads.add(head[0])
            self._learn(line)
        if len(self._times) > _SHAPES:
            self._times.clear()

    def _few(self, lines: list[bytes], shapes: list[bytes]) -> bytes:
        """The lines of a buffer without those whose shape was seen often."""
        kept = []
        seen = self._seen.get
        for line, shape in zip(lines, shapes, strict=True):
            count = seen(shape, 0)
            if count < _FEW:
                self._seen[shape] = count + 1
                kept.append(line)
        if len(self._seen) > _SHAPES:
            self._seen.clear()
        return b"\n".join(kept) + (b"\n" if kept else b"")
