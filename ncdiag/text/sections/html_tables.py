"""Convert HTML tables to tables with bars, which parsers read."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.text.sections.line import Line

_BEGIN = lazy_regex(r"<table\b", re.IGNORECASE)
_END = lazy_regex(r"</table\s*>", re.IGNORECASE)
_LONGEST = 3000
"""Maximum number of lines of a table that are read."""


class HtmlTables:
    """HTML tables as a layer of decoration to remove (`ncdiag.text.sections.undress`)."""

    doubtful = False
    sure = False

    def blocks(self, lines: Sequence[Line]) -> list[tuple[int, int]]:
        """(start, end) of each table, from ``<table>`` to its end."""
        found: list[tuple[int, int]] = []
        start: int | None = None
        for index, line in enumerate(lines):
            if "<" not in line.text:
                continue
            if start is None and _BEGIN.search(line.text):
                start = index
            if start is not None and _END.search(line.text):
                if index - start < _LONGEST:
                    found.append((start, index + 1))
                start = None
        return found

    def removed(self, lines: Sequence[Line]) -> list[Line]:
        """One line per row, with the number of the line in which the row begins."""
        from ncdiag.text.sections.html_rows import table  # it loads the HTML parser, which few pastes need

        rows = table("\n".join(line.text for line in lines))
        return [
            msgspec.structs.replace(lines[number - 1], text=f"| {' | '.join(cells)} |" if len(cells) > 1 else cells[0])
            for number, cells in rows
        ]
