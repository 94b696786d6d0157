"""A line of a paste while the text added by shells, loggers, mailers and chats is removed from it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import msgspec


class Line(msgspec.Struct, frozen=True, gc=False):
    """A line: ``number`` in the source, the remaining ``text``, and what was learnt from the removed parts.

    ``head`` are the times and labels that preceded the text, outermost first, each followed by a blank. ``stream``
    identifies the process among several whose lines are interleaved; ``host`` is where the text was printed, and
    ``container`` the label of one whose host is not known.
    """

    number: int
    text: str
    head: str = ""
    stream: str = ""
    host: str | None = None
    container: str | None = None

    @property
    def is_fence(self) -> bool:
        """True if the line begins or ends a Markdown code block."""
        return self.text.lstrip().startswith(("```", "~~~"))


def lines_of(text: str) -> list[Line]:
    """The lines of a text, numbered from 1."""
    return [Line(number, line) for number, line in enumerate(text.removesuffix("\n").split("\n"), 1)]


def block_ends(lines: Sequence[Line], carries: Sequence[bool], share: int) -> list[tuple[int, int]]:
    """(start, end) of blocks with at least ``share`` lines that carry something per line that does not.

    Blank lines are ignored; a code fence ends a block. The first and last line of a block carry it.
    """
    blocks: list[tuple[int, int]] = []
    start, end, with_it, without = -1, 0, 0, 0
    for place in itertools.compress(range(len(lines)), carries):
        for index in range(end, place) if start >= 0 else ():
            line = lines[index]
            without += bool(line.text.strip())
            if line.is_fence or without * share > with_it:
                blocks.append((start, end))
                start = -1
                break
        if start < 0:
            start, with_it, without = place, 0, 0
        end, with_it = place + 1, with_it + 1
    return [*blocks, (start, end)] if start >= 0 else blocks
