"""Lines of styled text for a terminal: wrapped, sanitised, and coloured by rich only if colour is requested."""

from __future__ import annotations

import io

from ncdiag.language import cells
from ncdiag.report.sanitize import one_line

MIN_WIDTH, MAX_WIDTH = 40, 110
TEXT_LIMIT = 2000
"""Maximum length of a text in characters."""
COLOURS = {"error": "bold red", "warning": "yellow", "info": "cyan"}
"""Styles of the severities. Bold yellow and cyan are so bright on many terminals that they cannot be read on white."""

Piece = tuple[str, str]
"""(text, style); the style is empty for plain text."""


class Page:
    """Lines of styled pieces, wrapped at ``width`` columns. Every text is sanitised when it is added."""

    def __init__(self, width: int, most: int = MAX_WIDTH) -> None:
        """An empty page; ``most`` limits the width, because wider text is hard to read."""
        self.width = max(MIN_WIDTH, min(width, most))
        self.lines: list[list[Piece]] = []

    def blank(self) -> None:
        """Add an empty line, but never two."""
        if self.lines and self.lines[-1]:
            self.lines.append([])

    def put(self, text: str, style: str = "", *, first: str = "", rest: str | None = None, lead: str = "") -> None:
        """Wrap ``text`` after ``first``, with ``rest`` before its other lines (default: as many blanks)."""
        text = one_line(text)
        text = text if len(text) <= TEXT_LIMIT else text[:TEXT_LIMIT] + " ..."
        rest = " " * cells.width(first) if rest is None else rest
        width = max(self.width, max(cells.width(first), cells.width(rest)) + MIN_WIDTH // 2)
        wrapped = cells.wrap(text, width, first, rest, break_on_hyphens=False, drop_whitespace=False)
        for index, line in enumerate(wrapped or [first]):
            cut = len(rest if index else first)
            self.lines.append([(line[:cut], lead), (line[cut:].strip(), style)])

    def line(self, text: str, style: str = "", *, first: str = "") -> None:
        """Add a line that is cut if it is wider than the page."""
        room = self.width - cells.width(first)
        text = one_line(text).strip()
        if cells.width(text) > room:
            text = f"{text[: cells.fit(text, room - 4)].rstrip()} ..."
        self.lines.append([(first, "bold"), (text, style)])

    def verbatim(self, text: str, style: str, *, first: str) -> None:
        """Add a line to paste, which is never wrapped."""
        self.lines.append([(first, "dim"), (one_line(text), style)])

    @property
    def rows(self) -> int:
        """The number of terminal rows of the page; a line to paste may take several."""
        lengths = (sum(cells.width(text) for text, _ in line) for line in self.lines)
        return sum(max(1, -(-length // self.width)) for length in lengths)

    def plain(self) -> str:
        """The page without styles, ending in a newline."""
        return "".join("".join(text for text, _ in line).rstrip() + "\n" for line in self.lines)

    def painted(self) -> str:
        """The page with terminal escapes for its styles."""
        from rich.console import Console
        from rich.text import Text

        target = io.StringIO()
        console = Console(file=target, force_terminal=True, color_system="standard", legacy_windows=False)
        for line in self.lines:
            console.print(Text.assemble(*line), soft_wrap=True, markup=False, highlight=False, emoji=False)
        return target.getvalue()
