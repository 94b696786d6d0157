"""Columns of a terminal: a Chinese, Japanese or Korean character takes two, a combining one none (UAX #11).

Text without such characters is laid out by `textwrap`, as it always was.
"""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Iterator
from typing import Any

_NEVER_FIRST = frozenset("，。；：？！、）》」』】”…%,.;:?!)]}")
_NEVER_LAST = frozenset("（《「『【“([{")
"""What does not begin or end a line (GB/T 15834, 5.1)."""


def width(text: str) -> int:
    """Columns of a text in one line."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def _columns(character: str) -> int:
    if character.isascii():
        return 1
    if unicodedata.category(character) in {"Mn", "Me"}:
        return 0
    return 2 if is_wide(character) else 1


def is_wide(character: str) -> bool:
    """Does it take two columns? What is ambiguous takes one, as on most terminals."""
    return unicodedata.east_asian_width(character) in {"W", "F"}


def fit(text: str, columns: int) -> int:
    """How many characters of a text are in so many columns."""
    if width(text) == len(text):
        return min(len(text), max(columns, 0))
    used = 0
    for index, character in enumerate(text):
        used += _columns(character)
        if used > columns:
            return index
    return len(text)


def pad(text: str, columns: int) -> str:
    """The text with blanks up to so many columns."""
    return text + " " * (columns - width(text))


def wrap(text: str, columns: int, first: str = "", rest: str = "", **options: Any) -> list[str]:  # noqa: ANN401
    """Lines of at most so many columns, the first behind ``first``, the others behind ``rest``.

    ``options`` are those of `textwrap.wrap`. A line also ends beside a wide character, but not before a full stop.
    """
    if all(width(part) == len(part) for part in (text, first, rest)):
        return textwrap.wrap(text, columns, initial_indent=first, subsequent_indent=rest, **options)
    lines: list[str] = []
    line, used, empty = first, width(first), True
    for unit in _pieces(text, columns - max(width(first), width(rest))):
        taken = width(unit.rstrip())
        if not empty and used + taken > columns:
            lines.append(line.rstrip())
            line, used, empty = rest, width(rest), True
        if empty and not unit.strip():
            continue
        line, used, empty = line + unit, used + width(unit), False
    return [*lines, line.rstrip()] if not empty else lines


def _pieces(text: str, room: int) -> Iterator[str]:
    """What stays together, with the blanks behind it; what is wider than a line is cut."""
    for unit in _units(text):
        rest = unit
        while width(rest.rstrip()) > max(room, 2):
            end = fit(rest, max(room, 2))
            yield rest[:end]
            rest = rest[end:]
        yield rest


def _units(text: str) -> Iterator[str]:
    start = 0
    for index in range(1, len(text)):
        before, after = text[index - 1], text[index]
        if after != " " and (before == " " or _may_part(before, after)):
            yield text[start:index]
            start = index
    if text:
        yield text[start:]


def _may_part(before: str, after: str) -> bool:
    return (is_wide(before) or is_wide(after)) and after not in _NEVER_FIRST and before not in _NEVER_LAST
