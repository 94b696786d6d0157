"""Read a source for its names, without its secrets."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence

from ncdiag.apps.redact.hosts import is_hinted
from ncdiag.apps.redact.searched import Searched
from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.secrets.remover import Secrets
from ncdiag.formats.secrets.shapes import NAME, Lines, Shapes
from ncdiag.text import Text

__all__ = ["WithoutSecrets"]

_SHORT = 2 << 20
"""Maximum size in bytes of a text that is read completely to find names that only parsers recognise."""
_ALIKE, _FEW, _SHAPES = 64, 16, 1 << 16
_HEAD = lazy_regex(r"[\w.-]{1,80}(?=:\d+:\d+ \[|: )|\[[\w.-]{1,80}:")


class WithoutSecrets(Text):
    """A source without its secrets, so that none of them is taken for a name.

    Of a long source, only some of the lines that differ only in digits are returned: it is read for names, not events.
    """

    def __init__(
        self, source: Text, secrets: Secrets | None = None, learn: Callable[[str], None] = lambda _: None
    ) -> None:
        """``source`` may be read again later, with its secrets. ``learn`` receives the lines that may contain names."""
        self.name, self.notes = source.name, source.notes
        self.searched = Searched()
        self._source, self._secrets, self._learn = source, secrets or Secrets(), learn
        self._heads: set[str] = set()
        self._times: dict[bytes, int] = {}
        self._left: defaultdict[bytes, int] = defaultdict(lambda: _FEW)
        """The number of lines of each shape that are still returned."""

    def buffers(self) -> Iterator[bytes]:
        """The buffers of the source without secrets."""
        shapes = Shapes(is_hinted)
        self.searched = Searched()
        size = 0
        for buffer in self._source.buffers():
            size += len(buffer)
            lines, likes, flags = shapes.flags(buffer)
            before = self._secrets.counts["secret"]
            found = self._secrets.changed(lines, likes, flags)
            hidden = self._secrets.counts["secret"] - before
            self.searched.add(buffer, likes, found, hidden, self._secrets.begun)
            for index, flag in flags:
                if flag & NAME:
                    self._look(likes[index], found.get(index) or lines[index])
            if size < _SHORT:
                yield lines.joined(found) if found else buffer
            else:
                yield self._few(lines, likes, found)

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

    def _few(self, lines: Lines, shapes: Sequence[bytes], changed: Mapping[int, str]) -> bytes:
        """The lines of a buffer, with ``changed`` ones replaced, without those whose shape was seen often."""
        kept = []
        for index in itertools.compress(itertools.count(), map(self._left.__getitem__, shapes)):
            self._left[shapes[index]] -= 1
            line = changed.get(index)
            kept.append(lines.raw(index) if line is None else line.encode("utf-8", "surrogateescape"))
        if len(self._left) > _SHAPES:
            self._left.clear()
        return b"\n".join(kept) + (b"\n" if kept else b"")
