"""Read the lines of a log from the cells that a database, a spreadsheet or a log service put them into.

The column of the lines is the one whose head says so, or the only one that does not count, name times or repeat itself.
"""

from __future__ import annotations

import csv
import itertools
import re
from collections import Counter
from collections.abc import Iterable, Sequence

from ncdiag.base.patterns import lazy_regex
from ncdiag.text.clothes.encodings import NAMES

_INSERT = lazy_regex(r"INSERT INTO ", re.IGNORECASE)
_ROW = lazy_regex(
    r"(?:INSERT INTO [^()]{1,200}(?:\([^()]{0,400}\) )?VALUES ?)?\((?P<cells>.*)\)\s?[,;]?\s*", re.IGNORECASE
)
_VALUE = lazy_regex(r"\s*(?:[NE]?'(?P<text>(?:[^']|'')*?)'|(?P<bare>[^',]{0,200}))\s*(?:,|\Z)")
_RULE = lazy_regex(r"\s*\+?[-=\u2500]+(?:[+|\u253c\u2502][-=\u2500]+)*\+?\s*")
_INSERTED = lazy_regex(r"INSERT INTO .{1,400} VALUES\s*", re.IGNORECASE)
_COUNT = lazy_regex(r"\(?\d{1,9} rows?\b.{0,60}")
_CLOCK = r"(?:[T ,]{1,2}[\d:.,]{4,20}\s?(?:[AP]M)?\s?(?:Z|UTC|[+-]\d\d:?\d\d)?)?"
_COMMA_CLOCK = lazy_regex(r"\d:\d\d,\d{3}\b[^,]{0,3}\s")
_QUOTED_CELL = lazy_regex(r"(?:^|,)\s?\"")
"""A cell in quotation marks; a message may quote further on, and have commas as well."""
_MARK = lazy_regex(
    rf"\s*(?:|NULL|-?\d{{1,20}}(?:\.\d{{1,9}})?|\d{{1,4}}[-/.]\d{{1,2}}[-/.]\d{{1,4}}{_CLOCK}"
    r"|(?:trace|debug|info|notice|warn(?:ing)?|err(?:or)?|critical|fatal|stdout|stderr)"
    r"|[0-9a-fA-F]{8}-[0-9a-fA-F-]{27})\s*",
    re.IGNORECASE,
)
"""A cell that counts, is a time, a level, a stream or a random id."""
_FEWEST, _WITH_HEAD = 3, 2
"""Rows of a table, and with a head that names the column of the log."""
_ROWS = 0.9
"""Share of the lines that are rows, and of the cells of a column that are alike."""

Row = tuple[int, list[str]]
"""The number of a line from 0, and its cells."""


def text_of(text: str) -> str | None:
    """The text with one cell of each row, the log's line; heads and rules are left empty. None if it has no cells."""
    lines = text.split("\n")
    for rows, fewest in ((_of_sql(lines), 1), (_of_bars(lines), _FEWEST), (_of_commas(lines), _FEWEST)):
        column = _column(rows, lines, fewest)
        if column is not None:
            cells = {number: row[column] for number, row in rows}
            first = rows[0][0]
            return "\n".join(
                cells.get(number, "" if number < first or _is_frame(line) else line)
                for number, line in enumerate(lines)
            )
    return None


def _is_frame(line: str) -> bool:
    return any(frame.fullmatch(line) for frame in (_RULE, _COUNT, _INSERTED))


def _of_sql(lines: Sequence[str]) -> list[Row]:
    if not any(map(_INSERT.match, lines)):
        return []
    rows = []
    for number, line in enumerate(lines):
        found = _ROW.fullmatch(line)
        if found:
            values = [
                (each["text"].replace("''", "'") if each["text"] is not None else each["bare"].strip())
                for each in _VALUE.finditer(found["cells"])
                if each[0]
            ]
            rows.append((number, values))
    return rows


def _of_bars(lines: Sequence[str]) -> list[Row]:
    """The rows below a rule such as ``+----+-----+`` or ``----+----``, cut where the rule is crossed."""
    rule = next((line for line in lines if "-+-" in line and _RULE.fullmatch(line)), None)
    if rule is None:
        return []
    framed = rule.startswith("+")
    at = [place for place, sign in enumerate(rule.rstrip()) if sign == "+"]
    at = at if framed else [-1, *at, max(map(len, lines)) + 1]
    bars = at if framed else at[1:-1]
    rows = []
    for number, line in enumerate(lines):
        if (
            not _is_frame(line)
            and bars
            and all(line[place : place + 1] in {"|", "\u2502"} for place in bars[:-1] or bars)
        ):
            cells = [line[start + 2 : end].rstrip() for start, end in itertools.pairwise(at)]
            cells[-1] = cells[-1].removesuffix("|").rstrip()
            rows.append((number, cells))
    return rows


def _of_commas(lines: Sequence[str]) -> list[Row]:
    """The rows of a file of comma-separated values; a cell of several lines is none of a log's."""
    filled = [number for number, line in enumerate(lines) if line.strip()]
    if len(filled) < _WITH_HEAD or (
        not any(_is_named(cell) for cell in lines[filled[0]].split(",")) and not _QUOTED_CELL.search(lines[filled[0]])
    ):
        return []
    if 2 * sum(_COMMA_CLOCK.search(lines[number]) is not None for number in filled) > len(filled):
        return []  # the comma of a logger's milliseconds
    try:
        cells = list(csv.reader((lines[number] for number in filled), strict=True))
    except csv.Error:
        return []
    return list(zip(filled, cells, strict=True)) if len(cells) == len(filled) else []


def _is_named(cell: str) -> bool:
    return cell.strip().strip('"').lower() in NAMES


def _column(rows: list[Row], lines: Sequence[str], fewest: int) -> int | None:
    """The column of the log's lines; the row of heads is removed from ``rows``."""
    if len(rows) < fewest and not (len(rows) >= _WITH_HEAD and any(map(_is_named, rows[0][1]))):
        return None
    width = Counter(len(cells) for _, cells in rows).most_common(1)[0][0]
    even = [row for row in rows if len(row[1]) == width]
    written = sum(bool(line.strip()) and not _is_frame(line) for line in lines)
    if width < 2 or len(even) < _ROWS * max(len(rows), written):  # noqa: PLR2004  (a column is beside another)
        return None
    rows[:] = even
    named = [column for column, cell in enumerate(rows[0][1]) if _is_named(cell)]
    if named and len(rows) > 1 and not any(map(_is_named, rows[1][1])):
        del rows[0]
        return named[0]
    others = [column for column in range(width) if not _marks(cells[column] for _, cells in rows[1:] or rows)]
    return others[0] if len(others) == 1 else None


def _marks(cells: Iterable[str]) -> bool:
    """True if the cells of a column count, are times, or are all the same."""
    held = list(cells)
    return (len(set(held)) == 1 and len(held) > 1) or sum(
        _MARK.fullmatch(cell) is not None for cell in held
    ) >= _ROWS * len(held)
