"""The cells of a table of a web page; one that spans several rows or columns is in each of them.

The rows of the head (``<th>``) become one: what is above several columns comes before the name of each of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html.parser import HTMLParser

import msgspec

_WIDEST = 60
"""Columns of a table, and rows that a cell spans."""


class _Cell(msgspec.Struct):
    """A cell of the source: in the head or not, over so many columns and rows."""

    is_head: bool
    columns: int
    rows: int
    pieces: list[str] = msgspec.field(default_factory=list)

    @property
    def text(self) -> str:
        """What the cell says."""
        return "".join(self.pieces)


class _Reader(HTMLParser):
    """Gathers the rows of a table; ``numbers`` are the lines in which they begin."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[_Cell]] = []
        self.numbers: list[int] = []
        self._cell: _Cell | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "tr":
            self._cell = None
            self.rows.append([])
            self.numbers.append(self.getpos()[0])
        elif tag in {"td", "th"} and self.rows:
            spans = {name: _span(value) for name, value in attrs if name in {"colspan", "rowspan"}}
            self._cell = _Cell(tag == "th", spans.get("colspan", 1), spans.get("rowspan", 1))
            self.rows[-1].append(self._cell)
        elif tag == "br" and self._cell is not None:
            self._cell.pieces.append(" ")

    def handle_endtag(self, tag: str) -> None:
        if tag in {"td", "th", "tr"}:
            self._cell = None

    def handle_data(self, data: str) -> None:
        if self._cell is not None:
            self._cell.pieces.append(data)


def _span(value: str | None) -> int:
    return min(max(int(value), 1), _WIDEST) if value and value.isdecimal() and len(value) < 4 else 1  # noqa: PLR2004


def table(text: str) -> Iterator[tuple[int, list[str]]]:
    """The rows of a table as the texts of their cells, each with the line of ``text`` in which it begins, from 1.

    Those of the head are one; a row of one cell has one text.
    """
    reader = _Reader()
    reader.feed(text)
    return ((reader.numbers[index], cells) for index, cells in _table(reader.rows))


def _table(rows: Sequence[Sequence[_Cell]]) -> Iterator[tuple[int, list[str]]]:
    """The rows with their cells as text; those of the head in one, those of one cell alone before it."""
    width = max((sum(cell.columns for cell in row) for row in rows), default=0)
    head: list[list[str]] = []
    last = 0
    for index, (cells, is_head) in enumerate(_spread(rows)):
        if len(set(cells)) == 1 and len(cells) == width > 1:
            yield index, cells[:1]
        elif is_head:
            head.append(cells)
            last = index
        else:
            if head:
                yield last, [" ".join(dict.fromkeys(names)) for names in zip(*head, strict=False)]
                head = []
            if cells:
                yield index, cells


def _spread(rows: Sequence[Sequence[_Cell]]) -> Iterator[tuple[list[str], bool]]:
    """Each row with the cells that reach into it from above, and whether all of its own are of the head."""
    above: dict[int, tuple[int, str]] = {}
    for row in rows:
        found: list[str] = []
        own = iter(row)
        while len(found) < _WIDEST:
            left, text = above.get(len(found), (0, ""))
            if left:
                above[len(found)] = left - 1, text
                found.append(text)
                continue
            cell = next(own, None)
            if cell is None:
                break
            text = " ".join(cell.text.replace("|", "/").split())
            for _ in range(cell.columns):
                above[len(found)] = cell.rows - 1, text
                found.append(text)
        yield found, bool(row) and all(cell.is_head for cell in row)
