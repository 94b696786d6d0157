"""A section while its lines are read, and the section that comes of it."""

from __future__ import annotations

from ncdiag.base.spans import Section
from ncdiag.text.sections import prompt

_BELOW = 3
"""Maximum distance in lines between a label and the output below it: an empty line and a fence are between."""


def near(above: tuple[int, str], number: int) -> str:
    """The last line of text, given with its number, if it is just above a section that begins here; else empty."""
    return above[1] if 0 < number - above[0] <= _BELOW else ""


class Open:
    """The open section. ``title``: a heading that is a command; ``heading``: the number of its line, or 0.

    ``ended``: as in `Section`.
    """

    def __init__(self, kind: str, host: str | None, command: str | None, prefix: prompt.Prefix) -> None:
        self.kind, self.host, self.command, self.prefix = kind, host, command, prefix
        self.title: str | None = None
        self.heading = 0
        self.above = ""
        self.ended = False
        self.lines: list[str] = []
        self.numbers: list[int] = []

    def add(self, number: int, line: str) -> None:
        """Add a line with its number in the source."""
        self.lines.append(line)
        self.numbers.append(number)

    def section(self, source: str) -> Section | None:
        """The section, without empty lines at its end; None without lines. The echo of a command has a number alone."""
        echoed = len(self.numbers) > len(self.lines)
        numbers = self.numbers[1:] if echoed and self.lines else self.numbers
        while self.lines and not self.lines[-1].strip():
            self.lines.pop()
            numbers = numbers[:-1]
        if not numbers:
            return None
        consecutive = numbers[-1] - numbers[0] == len(numbers) - 1
        return Section(
            kind=self.kind,
            source=source,
            first_line=numbers[0],
            lines=tuple(self.lines),
            host=self.host,
            command=self.command or self.title,
            prefix=self.prefix.text,
            numbers=() if consecutive else tuple(numbers),
            above=self.above,
            ended=self.ended,
        )
