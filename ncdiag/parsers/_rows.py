"""The lines of an output as one table, from which follow where its section ends, what is read and what is not.

The parser of an output that is read line by line declares ``ROWS = Rows(reading, row, row, ...)``. Each row has the
pattern of one kind of line and what such a line gives. The first row that matches a line decides.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, Generic, Protocol, TypeVar

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation, Parsed, observe
from ncdiag.formats import basics

Belongs = Callable[[Sequence[str], str], bool]
"""Whether a line goes on with the section that the lines above it, at least one, began."""


class Reading:
    """A section while its lines are read in order: what was found, and which lines were not understood.

    A parser whose lines depend on each other reads with a subclass, which keeps what the lines above said. ``index`` is
    that of the line being read.
    """

    def __init__(self, section: Section) -> None:
        """Nothing is read yet."""
        self.section = section
        self.index = 0
        self.found: list[Observation] = []
        self.unread: list[int] = []

    @property
    def line(self) -> str:
        """The line being read."""
        return self.section.lines[self.index]

    def observe(
        self, entity: str, key: tuple[str | int | None, ...] = (), *, at: int | None = None, **fields: Any  # noqa: ANN401
    ) -> None:  # fmt: skip
        """Add an observation from the line being read, or from that ``at`` an index; fields that are None are left out.

        ``host`` and ``standing`` are those of `ncdiag.facts.observe.observe`.
        """
        self.found.append(observe(self.section, self.index if at is None else at, entity, key, **fields))

    def found_nothing(self) -> None:
        """Drop what was read: no observations, and every line with text is unread. For the use of `end`."""
        self.found.clear()
        self.unread = [index for index, line in enumerate(self.section.lines) if line.strip()]

    def end(self) -> None:
        """Add what only the whole section says; called once, after the last line."""

    def complete(self) -> bool:
        """True if the section shows its whole collection, so that what is absent does not exist; called after `end`."""
        return False


S_contra = TypeVar("S_contra", bound=Reading, contravariant=True)
S = TypeVar("S", bound=Reading)


class _Matcher(Protocol):
    def match(self, line: str, /) -> Any: ...  # noqa: ANN401  (a match, or what stands for one)


class _Asked:
    """A function of a line in the place of a pattern."""

    def __init__(self, function: Callable[[str], object]) -> None:
        self.match = function


class Row(Generic[S_contra]):
    """One kind of line."""

    def __init__(
        self,
        pattern: str | Callable[[str], object],
        gives: Callable[[S_contra, Any], bool | None] | None = None,
        *,
        belongs: Belongs | None = None,
    ) -> None:
        """Describe the lines that the pattern matches from their first column.

        A function may be in the place of the pattern: it gets the line, and returns None or False for another one.
        ``gives`` gets the reading and the match (or what the function returned), and adds observations; when it returns
        False, the next rows are tried. Without it the line is a frame: it belongs to the output and says nothing.
        ``belongs`` decides whether such a line may go on with a section; without it, it always does.
        """
        self.matcher: _Matcher = lazy_regex(pattern) if isinstance(pattern, str) else _Asked(pattern)
        self.gives = gives
        self.belongs = belongs


class Rows(Generic[S]):
    """The kinds of lines of one output; the first that matches a line decides what it is."""

    def __init__(
        self, reading: Callable[[Section], S], *rows: Row[S], most: int = sys.maxsize, longest: int = sys.maxsize
    ) -> None:
        """``reading`` is `Reading` or a subclass of it.

        ``most`` is the number of lines after which a section ends, ``longest`` the number of characters over which no
        row matches a line.
        """
        self.reading, self.rows, self.most, self.longest = reading, rows, most, longest

    def continues(self, lines: Sequence[str], line: str) -> bool:
        """Does the line go on with the section that these lines began?"""
        if len(lines) >= self.most or len(line) > self.longest:
            return False
        for row in self.rows:
            if row.matcher.match(line):
                return row.belongs is None or row.belongs(lines, line)
        return False

    def parse(self, section: Section) -> Parsed:
        """What the rows give; unread are the lines with text that no row takes."""
        reading = self.reading(section)
        for index, line in enumerate(reading.section.lines):  # which may leave out secrets
            reading.index = index
            if not self._take(reading, line) and line.strip():
                reading.unread.append(index)
        reading.end()
        return Parsed(
            observations=tuple(reading.found), unread=tuple(reading.unread), complete=reading.complete()
        )  # fmt: skip

    def _take(self, reading: S, line: str) -> bool:
        if len(line) > self.longest:
            return False
        for row in self.rows:
            found = row.matcher.match(line)
            if found and (row.gives is None or row.gives(reading, found) is not False):
                return True
        return False


def not_understood(reading: Reading, _match: object) -> None:
    """What a line gives that belongs to the output and is reported as unread."""
    reading.unread.append(reading.index)


def never(_lines: Sequence[str], _line: str) -> bool:
    """Belongs to no section that has begun: such a line begins another one."""
    return False


def not_again(lines: Sequence[str], line: str) -> bool:
    """Belongs unless it is the first line once more, which begins the output of another host."""
    return line != lines[0]


def once(lines: Sequence[str], line: str) -> bool:
    """Belongs unless the section has this line already."""
    return line not in lines


def at_start(lines: Sequence[str], _line: str) -> bool:
    """Belongs where nothing but blank lines is above: the first line after an echoed command."""
    return not any(text.strip() for text in lines)


def after_text(lines: Sequence[str], _line: str) -> bool:
    """Belongs unless the line above is blank."""
    return bool(lines) and bool(lines[-1].strip())


def first_line(lines: Sequence[str], line: str) -> str:
    """The first line of the section that has text; the line itself where there is none above it."""
    return next((text for text in lines if text.strip()), line)


BLANK: Row[Reading] = Row(r"\s*$")
"""Blank lines belong. Without this row or the next one they end a section; unread they never are."""
ONE_BLANK: Row[Reading] = Row(r"\s*$", belongs=after_text)
"""A blank line belongs, a second one after it ends the section."""
ELISION: Row[Reading] = Row(basics.is_elision, not_understood)
"""``...`` and ``[snip]`` belong; they are unread, so that what was shortened is not complete."""
