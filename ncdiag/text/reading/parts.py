"""Read long sources in parts, in several processes: each part gives a small result, and the results are combined."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import msgspec

from ncdiag.parsers import discover
from ncdiag.parsers.nccl_log import Repeats, Scanner
from ncdiag.text.reading.model import Reading
from ncdiag.text.reading.parse import collection_paused, put_together
from ncdiag.text.reading.sieve import Dropped, Shapes, Sieve
from ncdiag.text.reading.stop import Stop
from ncdiag.text.sections.cut import TEXT_LIMIT, Cutter
from ncdiag.text.sources.text import Cleaner

_PART_BITS = 40
"""The lines of part ``i`` are numbered from ``i`` times two to this power; the true numbers are computed later."""


class Part(msgspec.Struct):
    """The result of reading a part of a source; small, unless the part consists of text of other programs.

    ``text`` holds the lines that are not from NCCL and may carry information, in stretches with the number of the first
    line; ``skipped`` more were not kept. The first ``begin`` stretches hold all such lines regardless of their content,
    because they may belong to a section of the previous part. ``whole``: the part was read to its end. Line numbers are
    relative to the part (`Parts` converts them).
    """

    scanner: Scanner
    cleaner: Cleaner
    text: list[tuple[int, bytes]] = []
    begin: int = 0
    dropped: Dropped = msgspec.field(default_factory=Dropped)
    skipped: int = 0
    whole: bool = True


def read_part(  # noqa: PLR0913, PLR0917  (a part, and what is known from earlier ones)
    name: str, index: int, buffers: Iterable[bytes], cleaner: Cleaner, repeats: Repeats | None = None,
    shapes: Shapes | None = None,
) -> Part:  # fmt: skip
    """Scan part ``index`` of a source; ``buffers`` come from ``cleaner``, the last two from earlier parts."""
    part = Part(Scanner(name, first_line=(index << _PART_BITS) + 1, repeats=repeats), cleaner, [])
    sieve = Sieve(part.scanner, Cutter(name, discover(), keeps=False), shapes)
    room = TEXT_LIMIT
    with collection_paused():
        for count, buffer in enumerate(buffers):
            is_begin = index > 0 and not count
            lines = sieve.feed(buffer, whole=is_begin)
            for _, stretch in itertools.groupby(enumerate(lines), lambda pair: pair[1][0] - pair[0]):
                kept = [line for _, line in stretch]
                if room > 0:
                    part.text.append((kept[0][0], b"\n".join(line for _, line in kept)))
                    room -= len(part.text[-1][1])
                else:
                    part.skipped += len(kept)
            if is_begin:
                part.begin = len(part.text)
    part.dropped = sieve.dropped
    return part


class Parts:
    """Combines the parts of a source. A section that spans two parts becomes one section."""

    def __init__(self, name: str) -> None:
        """``name`` is that of the source."""
        self._name = name
        self._cutter = Cutter(name, discover())
        self._scanner: Scanner | None = None
        self._cleaner = Cleaner()
        self._lines = [0]
        self._dropped, self._shapes = Dropped(), Shapes()

    def add(self, part: Part) -> None:
        """Add the next part."""
        self._lines.append(self._lines[-1] + part.scanner.next_line - part.scanner.first_line)
        sieve = Sieve(Scanner(self._name), self._cutter, self._shapes)
        for place, (first, text) in enumerate(part.text):
            lines = enumerate(text.split(b"\n"), self._number(first))
            if place < part.begin:
                sieve.take(lines)
            else:
                self._cutter.feed((number, line.decode("utf-8", "replace")) for number, line in lines)
        self._dropped.add(sieve.dropped, lambda line: line)
        self._cutter.skipped_lines += part.skipped
        self._dropped.add(part.dropped, self._number)
        self._cleaner.add(part.cleaner)
        if self._scanner is None:
            self._scanner = part.scanner
        else:
            self._scanner.merge(part.scanner)

    def _number(self, line: int) -> int:
        """The line number in the source for a line number of a part."""
        return self._lines[line >> _PART_BITS] + (line & ((1 << _PART_BITS) - 1))

    def reading(self, notes: Iterable[str] = (), stop: Stop | None = None) -> Reading:
        """The result of all parts, as if they had been read as one; ``stop`` as in `put_together`."""
        scanner = self._scanner or Scanner(self._name)
        scanned, sections = scanner.finish(self._number), self._cutter.finish()
        notes = [*notes, *self._cleaner.notes()]
        skipped = self._cutter.skipped_lines
        return put_together(self._name, scanned, sections, skipped, self._lines[-1], notes, self._dropped, stop)
