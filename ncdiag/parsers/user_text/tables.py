"""Tables that people write, as sentences: each row says what goes with which outcome, in words of its header.

``| NCCL | result |`` above ``| 2.28.9 | hangs |`` says ``NCCL 2.28.9: hangs``. Where the header names the changes
(``| | NCCL 2.18 | NCCL 2.21 |``), each column says it of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ncdiag.base.patterns import lazy_regex

_ROW = lazy_regex(r"\s*(?:>\s?)*\|?(?:[^|]{0,400}\|){1,12}[^|]{0,400}$")
_RULE = lazy_regex(r"\s*(?:>\s?)*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*){0,12}\|?\s*$")
_MOST_ROWS = 60
_MARKS = lazy_regex(r"\*\*|`|<br\s?/?>")
_NUMBERED = lazy_regex(r"\W*v?\d")
_BARE = lazy_regex(r"\W*v?\d[\w.+-]*(?:\s\([^)]*\))?\W*")
_HEADED = lazy_regex(r"[A-Za-z][\w./-]*(?:\s[\w./-]+){0,3}\W*v?\d")
_UNIT = lazy_regex(r"\(?((?:[KMGT]i?B/s|[KMGT]bps|[KMGT]b/s|it/s|tokens/s|samples/s|ms))\)?", re.IGNORECASE)
_PLAIN_NUMBER = lazy_regex(r"[~<>]?\s?\d+(?:\.\d+)?")
_WORDS = lazy_regex(r"\s*(?:version|release)s?\s*$", re.IGNORECASE)


class Row(NamedTuple):
    """The sentences of a row or column; ``at`` is the index of the line that tells them.

    ``name`` is the condition that it begins with, ``table`` the index of the header.
    """

    table: int
    name: str
    at: int
    sentences: tuple[str, ...]


def rows(lines: Sequence[str]) -> Iterator[Row]:
    """The rows of all tables with a header and a rule of dashes below it."""
    place = 1
    while place < len(lines):
        if "-" in lines[place] and "|" in lines[place] and _RULE.match(lines[place]) and _ROW.match(lines[place - 1]):
            head, begin = _cells(lines[place - 1]), place + 1
            place = begin
            while place < min(len(lines), begin + _MOST_ROWS) and "|" in lines[place] and _ROW.match(lines[place]):
                place += 1
            yield from _table(head, [(at, _cells(lines[at])) for at in range(begin, place)], begin - 2)
        else:
            place += 1


def _cells(line: str) -> list[str]:
    text = _MARKS.sub("", line).strip().lstrip("> ").removeprefix("|")
    return [cell.strip() for cell in text.removesuffix("|").split("|")]


def _table(head: list[str], body: list[tuple[int, list[str]]], at: int) -> Iterator[Row]:
    """The rows of one table; its columns where the header names two changes and more."""
    changes = [cell for cell in head[1:] if _HEADED.match(cell) or _NUMBERED.match(cell)]
    if len(changes) > 1 and len(changes) == len(head) - 1:
        of = head[0] if _letters(head[0]) else ""
        for place in range(1, len(head)):
            name = _named(of, head[place])
            said = [_said(name, _measured(cells[0], cells[place])) for _, cells in body if place < len(cells)]
            yield Row(at, name, at, tuple(said))
        return
    for index, cells in body:
        if len(cells) == len(head) > 1:
            name = _named(head[0], cells[0])
            results = [_measured(title, cell) for title, cell in zip(head[1:], cells[1:], strict=True) if cell]
            yield Row(at, name, index, tuple(_said(name, result) for result in results))


def _letters(text: str) -> bool:
    return any(letter.isalpha() for letter in text)


def _named(header: str, cell: str) -> str:
    """The change that a cell names: a bare release with the name in its header."""
    return f"{_WORDS.sub('', header)} {cell}".strip() if _BARE.fullmatch(cell) else cell


def _measured(header: str, cell: str) -> str:
    """A result with the unit that its header gives."""
    unit = _UNIT.search(header)
    return f"{cell} {unit[1]}" if unit and _PLAIN_NUMBER.fullmatch(cell) else cell


def _said(name: str, result: str) -> str:
    return f"{name}: {result}"
