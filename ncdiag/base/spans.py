"""Where a piece of input stands: sources, spans and sections.

Every other package imports this one; it imports nothing of ncdiag.
"""

from __future__ import annotations

import msgspec

SPAN_TEXT_LIMIT = 400
"""Characters of a line that a span keeps; longer lines are cut with an ellipsis."""


class Span(msgspec.Struct, frozen=True, order=True, gc=False):  # never part of a cycle, and there are millions
    """One line of input that carries a fact: the unit of evidence.

    ``line`` counts from 1; 0 means that the source has no lines (a value read by a system call).
    ``text`` is the line as it stood, cut at ``SPAN_TEXT_LIMIT``; it is hostile and is sanitised by the reports.
    """

    source: str
    line: int
    text: str = ""


def span(source: str, line: int, text: str) -> Span:
    """Build a span, cutting an overlong line."""
    if len(text) > SPAN_TEXT_LIMIT:
        text = text[: SPAN_TEXT_LIMIT - 1] + "…"
    return Span(source, line, text)


class Section(msgspec.Struct, frozen=True, kw_only=True):
    """A run of lines of one kind (``ibstat``, ``show_gids``, ``text`` ...) cut out of a source.

    ``lines`` are decoded, without line ends, without terminal escapes and without launcher prefixes; ``first_line``
    is the number of ``lines[0]`` in the source, counting from 1. ``numbers`` gives the line numbers when the lines do
    not are in one block (program text between the lines of other ranks); empty means consecutive. ``host`` is what
    the surroundings said (a shell prompt, a file header), None when they said nothing. ``command`` is the echoed
    command line that printed the section, when there was one; ``prefix`` the launcher tag that was removed from each
    line (``[rank3]: ``). ``heads`` are the times and labels that were removed before each line; empty means none.
    ``left_out`` lines of the source said nothing and are in no section.
    """

    kind: str
    source: str
    first_line: int
    lines: tuple[str, ...]
    host: str | None = None
    command: str | None = None
    prefix: str = ""
    numbers: tuple[int, ...] = ()
    heads: tuple[str, ...] = ()
    left_out: int = 0

    def number(self, index: int) -> int:
        """Line number in the source of ``lines[index]``."""
        return self.numbers[index] if self.numbers else self.first_line + index

    def head(self, index: int) -> str:
        """What was removed before ``lines[index]``."""
        return self.heads[index] if index < len(self.heads) else ""

    @property
    def last_line(self) -> int:
        """Number of the last line in the source."""
        return self.number(len(self.lines) - 1) if self.lines else self.first_line

    def span(self, index: int) -> Span:
        """The span of ``lines[index]``."""
        return span(self.source, self.number(index), self.lines[index])

    @property
    def text(self) -> str:
        """The lines joined by newlines, for parsers that want the whole."""
        return "\n".join(self.lines)
