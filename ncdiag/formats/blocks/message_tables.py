"""Tables of messages: those with what they mean or what to do, those of statistics, and the catalogues of programs.

A heading of messages and hosts, times or reasons is one of an export of real ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.blocks.stretches import end_of_paragraph, stretches

_LONGEST = 400
_BETWEEN = r"(?:\s*[|,;\t]\s*|</t[hd]>\s*<t[hd][^>]{0,60}>)"
_MESSAGE = (
    r"(?:(?:error|log|fault|xid)?\s?(?:messages?|codes?|lines?|errors?|symptoms?)|meldung(?:en)?|fehler|\u62a5\u9519"
    r"|\u9519\u8bef(?:\u4fe1\u606f|\u7801)?|\u73b0\u8c61)"
)
_MEANING = (
    r"(?:(?:likely |possible |root )?causes?|meanings?|what to do|remed(?:y|ies)|fix(?:es)?|solutions?|actions?"
    r"|ursachen?|bedeutung|ma\u00dfnahmen?|\u539f\u56e0|\u542b\u4e49|\u5904\u7406|\u89e3\u51b3(?:\u65b9\u6cd5)?)"
)
_HEADING = lazy_regex(
    rf"(?:\W|<[^>]{{1,60}}>)*{_MESSAGE}{_BETWEEN}(?:[^|,;\t<>]{{1,40}}{_BETWEEN}){{0,3}}{_MEANING}\b", re.IGNORECASE
)


_KEYED = lazy_regex(r"\s*\"?[A-Za-z][\w-]{0,40}(?:\.[\w-]{1,40}){1,6}\"?\s{0,4}[=:]\s{0,4}\"?\S")
_PLACE = lazy_regex(r"\{\w{0,30}\}|%(?:\(\w{1,30}\))?[sd]\b")
"""Where the program puts a value into a message."""
_GETTEXT = lazy_regex(r"(?:#[~|] {0,2})?(?:msgid|msgstr|msgctxt|msgid_plural)(?:\[\d\])? \"|\"")
_KEYS, _TRANSLATED, _SHARE = 3, 2, 6
"""Minimum number of keys and of translations; maximum number of messages for each one with a placeholder."""


def catalogues(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Keys with messages, of which several have a placeholder, and the entries of gettext."""
    for first, last in stretches(index for index, line in enumerate(lines) if _KEYED.match(line[:_LONGEST])):
        block = lines[first : last + 1]
        placed = sum(_PLACE.search(line[:_LONGEST]) is not None for line in block)
        if len(block) >= _KEYS and placed > 1 and _SHARE * placed >= len(block):
            yield first, last
    if sum(line.startswith("msgid ") for line in lines) >= _TRANSLATED:
        yield from stretches(index for index, line in enumerate(lines) if _GETTEXT.match(line[:_LONGEST]))


_NAMES = lazy_regex(r"\s*(?:[A-Za-z_][\w.%-]{0,40}\s{1,200}){1,20}[A-Za-z_][\w.%-]{0,40}\s*$")
"""The names of columns."""
_NUMBERED = lazy_regex(r"\s{0,12}(\d{1,7})\s{1,40}\S.*\s{2,}\S")
_TIMED, _WORD = lazy_regex(r"\d\d:\d\d:\d\d"), lazy_regex(r"\S+")
_ROWS, _BEGINS = 3, frozenset({0, 1})
"""The fewest rows, and the numbers with which pandas and R begin."""


def data_frames(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The tables that R and pandas print: rows with numbers that rise by one, below the names of their columns.

    Each row is about another thing, and a message in it is one of several. Rows with a time of day are a log.
    """
    begin, before = 0, -1
    for index, line in enumerate([*lines, ""]):
        found = _NUMBERED.match(line[:_LONGEST])
        number = int(found[1]) if found else -1
        if found and before >= 0 and number == before + 1:
            before = number
            continue
        if before >= 0 and _is_table(lines[begin - 1 : index]):
            yield begin, index - 1
        is_first = found is not None and number in _BEGINS and index > 0 and _NAMES.match(lines[index - 1][:_LONGEST])
        begin, before = index, number if is_first else -1


def _is_table(lines: Sequence[str]) -> bool:
    """True if the cells of some rows end where the names in the heading do, at least those of the first columns."""
    heading, *rows = (line[:_LONGEST] for line in lines)
    ends = [name.end() for name in _WORD.finditer(heading)][:-1]
    return (
        len(rows) >= _ROWS and len(ends) > 0
        and all(row[end - 1 : end].strip() and not row[end : end + 1].strip() for row in rows for end in ends)
        and not any(map(_TIMED.search, rows))
    )  # fmt: skip


_SHARED = lazy_regex(r"(?=.{0,200}[A-Za-z]).{8,200}?\S\s{2,60}\d{1,3}(?:[.,]\d{1,3})? ?%\s*$")
"""A message, and far behind it a share of something."""


def shares(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The tables that tell how often each message is: rows that end in a percentage."""
    rows = [index for index, line in enumerate(lines) if "%" in line and _SHARED.match(line[:_LONGEST])]
    for first, last in stretches(rows):
        if last + 1 - first >= _ROWS:
            yield first, last


def message_tables(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Each table, from its heading to the next empty line."""
    for index, line in enumerate(lines):
        if _HEADING.match(line[:_LONGEST]):
            yield index, end_of_paragraph(lines, index)
