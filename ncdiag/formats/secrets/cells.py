"""Secrets beside their names in the cells of tables (CSV, Markdown, HTML, databases), and below them in a column."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import NamedTuple

from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.secrets.layers import views
from ncdiag.formats.secrets.names import Promise, is_value, looks_random, promise
from ncdiag.formats.secrets.signed import Signed
from ncdiag.formats.secrets.tokens import Span

__all__ = ["Header", "alone", "beside", "header"]

_MARKS = "\t|\u2502\u2503\u2551;,"
_LIMIT, _CELLS = 20_000, 200
"""Maximum length of a row, and maximum number of its cells."""
_NAME = lazy_regex(r"[\"'`*]{0,3}(?P<name>[^\W\d][\w.-]{0,80}(?: [A-Za-z][\w-]{1,20}){0,2}):?[\"'`*]{0,3}\Z")
_INSERTED = Signed(r"\((?P<names>[\w\s,\"`\[\].]{3,2000})\)\s{0,20}(?i:values)\s{0,20}\((?P<values>[^()]{3,4000})\)")
_RULE = lazy_regex(r"[\s:|+=\u2500-\u257f-]*\Z")
_QUOTES = "\"'`*"
_BLANKS = "  "
"""What is between the columns of a table that a program aligns."""
_WORDS = lazy_regex(r"\S+(?: \S+)*")
_USER = lazy_regex(r"(?:\w+[ _-])?(?:user(?: ?name)?|login|account|benutzer)\Z", re.IGNORECASE)


def _row(text: str, mark: str) -> list[Span]:
    """The spans of the texts of the cells of a line without quotes; ``mark`` is between them."""
    if mark == _BLANKS:
        return [found.span() for found in _WORDS.finditer(text)]
    cells: list[Span] = []
    place = 0
    for part in text.split(mark):
        inner = part.strip()
        begin = place + len(part) - len(part.lstrip())
        lead = len(inner) - len(inner.lstrip(_QUOTES))
        bare = inner.strip(_QUOTES)
        cells.append((begin + lead, begin + lead + len(bare)))
        place += len(part) + len(mark)
    return cells


def _rows(text: str) -> Iterator[tuple[str, list[Span]]]:
    """The ways to cut a line into cells, each with the mark between them."""
    if len(text) <= _LIMIT:
        for mark in _MARKS:
            if 0 < text.count(mark) < _CELLS:
                yield mark, _row(text, mark)


def _aligned(text: str) -> Iterator[tuple[str, list[Span]]]:
    """The columns of a line that a program aligned, if it has some."""
    if _BLANKS in text.strip() and len(text) <= _LIMIT and len(cells := _row(text, _BLANKS)) < _CELLS:
        yield _BLANKS, cells


def _named(text: str, mark: str) -> Promise:
    """What a cell announces if it is a name; with a comma, which sentences have too, only a name of a program."""
    found = _NAME.match(text)
    if not found:
        return Promise.NONE
    name = found["name"]
    if " " in name and mark in ",;":
        return Promise.NONE
    announced = promise(name.replace(" ", "_"))
    return announced if announced >= Promise.LIKELY else Promise.NONE


def beside(text: str) -> Iterator[Span]:
    """The spans of values in cells after cells with the names of secrets, or in the columns that SQL names so."""
    yield from _inserted(text)
    for mark, cells in _rows(text):
        for (a, b), (begin, end) in itertools.pairwise(cells):
            announced = _named(text[a:b], mark)
            if announced and _is_secret(text[begin:end], announced, mark):
                yield begin, end


def _inserted(text: str) -> Iterator[Span]:
    """The spans of values of columns with the names of secrets, in ``(a, b) VALUES (1, 2)``."""
    for found in _INSERTED.finditer(text):
        names = [name.strip(' "`[]') for name in found["names"].split(",")]
        start = found.start("values")
        cells = _row(found["values"], ",")
        for name, (begin, end) in zip(names, cells, strict=False):
            announced = _named(name, ",")
            if announced and _is_secret(text[start + begin : start + end], announced, ","):
                yield start + begin, start + end


def _is_secret(value: str, announced: Promise, mark: str) -> bool:
    if not value or " " in value or (_named(value, mark) and not looks_random(value)):
        return False
    if announced < Promise.KEY:
        return looks_random(value)
    return is_value(value, Promise.LIKELY)


class Header(NamedTuple):
    """The columns with secrets of a table of ``width`` columns: what their names announce, by number."""

    mark: str
    columns: dict[int, Promise]
    width: int

    def values(self, line: str) -> list[Span] | None:
        """The spans of the secrets in a row, none for a rule between rows; None where the table has ended."""
        if _RULE.match(line):
            return [] if line.strip() else None
        for text, back in ((line, None), *((view.text, view) for view in views(line))):
            cells = _row(text, self.mark)
            if len(cells) == self.width:
                spans = [
                    cells[number] for number, announced in self.columns.items()
                    if _is_secret(text[slice(*cells[number])], announced, self.mark)
                ]  # fmt: skip
                return spans if back is None else [back.span(span) for span in spans]
        return None


def header(line: str) -> Header | None:
    """The header of a table with columns of secrets: a row of names only."""
    for text in (line, *(view.text for view in views(line))):
        for mark, cells in (*_rows(text), *_aligned(text)):
            names = [text[slice(*cell)] for cell in cells]
            inner = [name for name in names if name]
            if len(inner) > 1 and all(map(_NAME.match, inner)):
                columns = {number: _named(name, mark) for number, name in enumerate(names)}
                if any(map(_USER.match, inner)):  # beside a user, "pass" is no verdict
                    columns = {
                        number: Promise.PASSWORD if names[number].lower() == "pass" else announced
                        for number, announced in columns.items()
                    }
                held = {number: announced for number, announced in columns.items() if announced}
                if held and len(held) < len(inner):
                    return Header(mark, held, len(cells))
    return None


def alone(line: str) -> Promise:
    """What a line announces that is a cell of HTML with a name, and nothing else."""
    if "</t" not in line and "</key>" not in line:
        return Promise.NONE
    text = next((view.text for view in views(line) if "<" not in view.text), "").strip()
    return _named(text, "\t")
