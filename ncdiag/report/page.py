"""Lines of styled text for a terminal: wrapped, sanitised, and painted by rich only when colour is asked for."""

from __future__ import annotations

import io
import textwrap

from ncdiag.report.sanitize import one_line

MIN_WIDTH, MAX_WIDTH = 40, 110
TEXT_LIMIT = 2000
"""Characters of one text that are shown."""
COLOURS = {"error": "bold red", "warning": "yellow", "info": "cyan"}
"""Bold makes yellow and cyan so bright on many terminals that they cannot be read on white."""

Piece = tuple[str, str]
"""Text and style; the style is empty for plain text."""


class Page:
    """Lines of styled pieces, wrapped at ``width`` columns. Every text is sanitised on its way in."""

    def __init__(self, width: int, most: int = MAX_WIDTH) -> None:
        """Start an empty page; text wider than ``most`` columns is hard to read."""
        self.width = max(MIN_WIDTH, min(width, most))
        self.lines: list[list[Piece]] = []

    def blank(self) -> None:
        """An empty line, never two."""
        if self.lines and self.lines[-1]:
            self.lines.append([])

    def put(self, text: str, style: str = "", *, first: str = "", rest: str | None = None, lead: str = "") -> None:
        """Wrap ``text`` behind ``first``, its other lines behind ``rest`` (default: as many blanks)."""
        text = one_line(text)
        text = text if len(text) <= TEXT_LIMIT else text[:TEXT_LIMIT] + " ..."
        rest = " " * len(first) if rest is None else rest
        width = max(self.width, max(len(first), len(rest)) + MIN_WIDTH // 2)
        wrapped = textwrap.wrap(
            text, width, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False, drop_whitespace=False
        )
        for index, line in enumerate(wrapped or [first]):
            cut = len(rest if index else first)
            self.lines.append([(line[:cut], lead), (line[cut:].strip(), style)])

    def line(self, text: str, style: str = "", *, first: str = "") -> None:
        """One line that is cut where it is wider than the page."""
        room = self.width - len(first)
        text = one_line(text).strip()
        self.lines.append([(first, "bold"), (text if len(text) <= room else f"{text[: room - 4].rstrip()} ...", style)])

    def verbatim(self, text: str, style: str, *, first: str) -> None:
        """A line to paste: never wrapped."""
        self.lines.append([(first, "dim"), (one_line(text), style)])

    @property
    def rows(self) -> int:
        """Rows of a terminal of this width that the page takes; a line to paste may take several."""
        lengths = (sum(len(text) for text, _ in line) for line in self.lines)
        return sum(max(1, -(-length // self.width)) for length in lengths)

    def plain(self) -> str:
        """The page without styles, ending in a newline."""
        return "".join("".join(text for text, _ in line).rstrip() + "\n" for line in self.lines)

    def painted(self) -> str:
        """The page with the escapes of its styles."""
        from rich.console import Console
        from rich.text import Text

        target = io.StringIO()
        console = Console(file=target, force_terminal=True, color_system="standard", legacy_windows=False)
        for line in self.lines:
            console.print(Text.assemble(*line), soft_wrap=True, markup=False, highlight=False, emoji=False)
        return target.getvalue()
