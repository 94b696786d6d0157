"""The cells of a table of a web page; a cell that spans several rows or columns is repeated in each.

The header rows (``<th>``) are merged into one: a heading above several columns precedes the name of each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html.parser import HTMLParser

import msgspec

_WIDEST = 60
"""Maximum number of columns of a table, and of rows that a cell spans."""


class _Cell(msgspec.Struct):
    """A cell of the source: whether it is a header, and how many columns and rows it spans."""

    is_head: bool
    columns: int
    rows: int
    pieces: list[str] = msgspec.field(default_factory=list)

    @property
    def text(self) -> str:
        """The text of the cell."""
        return "".join(self.pieces)


class _Reader(HTMLParser):
    """Collects the rows of a table; ``numbers`` are the lines in which they begin."""

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
    """The rows of a table as texts of their cells, each with the line of ``text`` in which it begins, from 1.

    Header rows are merged into one; a row with a single cell has one text.
    """
    reader = _Reader()
    reader.feed(text)
    return ((reader.numbers[index], cells) for index, cells in _table(reader.rows))


def _table(rows: Sequence[Sequence[_Cell]]) -> Iterator[tuple[int, list[str]]]:
    """The rows as texts; header rows are merged into one, after rows of a single cell."""
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
    """Each row with the cells that extend into it from above, and whether all its own cells are headers."""
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
