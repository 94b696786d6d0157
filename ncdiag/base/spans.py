"""Positions in the input: sources, spans and sections.

Every other package imports this module; it imports nothing of ncdiag.
"""

from __future__ import annotations

import msgspec

SPAN_TEXT_LIMIT = 400
"""Maximum length of a line in a span, in characters; longer lines are cut and end in an ellipsis."""


class Span(msgspec.Struct, frozen=True, order=True, gc=False):  # never part of a cycle, and there are millions
    """One line of input that carries a fact: the unit of evidence.

    ``line`` counts from 1; 0 means that the source has no lines (a value read by a system call).
    ``text`` is the line as in the input, cut at ``SPAN_TEXT_LIMIT``; it is untrusted, and the reports sanitise it.
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
    """A sequence of lines of one kind (``ibstat``, ``show_gids``, ``text`` ...) cut out of a source.

    ``lines`` are decoded, without line ends, terminal escapes and launcher prefixes; ``first_line`` is the number of
    ``lines[0]`` in the source, counting from 1. ``numbers`` are the line numbers if the lines are not consecutive
    (program output interleaved with other ranks); empty means consecutive. ``host`` is the host named by the context (a
    shell prompt, a file header), or None. ``command`` is the echoed command line that printed the section, if any;
    ``prefix`` the launcher prefix that was removed from each line (``[rank3]: ``). ``heads`` are the times and labels
    that were removed from the start of each line; empty means none. ``left_out`` counts the lines of the source that
    carry no information and are in no section. Unless ``spoken``, complaints of people are not read. ``above`` is the
    line of text just above the section, which may say whose output it is; empty if none is near. ``ended``: the shell's
    next prompt is below it, so the program printed no more.
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
    spoken: bool = True
    above: str = ""
    ended: bool = False

    def number(self, index: int) -> int:
        """The line number in the source of ``lines[index]``."""
        return self.numbers[index] if self.numbers else self.first_line + index

    def head(self, index: int) -> str:
        """The text that was removed from the start of ``lines[index]``."""
        return self.heads[index] if index < len(self.heads) else ""

    @property
    def last_line(self) -> int:
        """The number of the last line in the source."""
        return self.number(len(self.lines) - 1) if self.lines else self.first_line

    def span(self, index: int) -> Span:
        """The span of ``lines[index]``."""
        return span(self.source, self.number(index), self.lines[index])

    @property
    def text(self) -> str:
        """The lines joined by newlines, for parsers that read a whole document."""
        return "\n".join(self.lines)
