"""Tables of the times that ranks need: a column or a label with the rank, and one or more columns with times.

The table is one of Markdown, of aligned columns or of commas, with a head that names the rank and the times (``| rank |
step time (s) |``, ``rank  forward_ms  step_ms``); or lines ``rank 11: 4.1 s`` below a title that says which time of a
step they are (``step time by rank:``). Programs and people write both; a column whose head names no time is not read.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.step_parts import sort_of
from ncdiag.parsers._prose import is_prose
from ncdiag.parsers._rows import ONE_BLANK, Reading, Row, Rows

KIND = "rank_times"
COMMANDS: tuple[str, ...] = ()
_STEP = r"(?:steps?|iter(?:ation)?s?|batch|forward|fwd|backward|bwd|compute)"
_HEAD = (
    r"[ ]{0,8}\|?(?:[ ]{0,8}[A-Za-z][A-Za-z ]{0,16}\|){0,2}[ ]{0,8}(?i:(?:global[_ -])?rank(?:[_ ]?id)?)[ ]{0,12}"
    r"(?:[|,;\t]|[ ]{2,20})"
    r"(?!.{0,200}(?i:timed? ?out))"
    r"(?=.{0,300}(?i:time|step|iter|forward|fwd|backward|bwd|comm|wait|[(\[_](?:ms|s|sec|seconds)\b))[^:]{2,300}$"
)
_TITLE = (
    rf"(?=.{{0,100}}(?i:\brank))(?=.{{0,100}}(?i:\b{_STEP}))(?=.{{0,100}}(?i:\b(?:times?|duration|seconds|ms)\b))"
    r"[^:]{8,100}:[ ]{0,4}$"
)
ANCHOR = rf"(?:{_HEAD}|{_TITLE})"
SIGNS = ("rank",)
FREQUENT = {"rank": "the name of the column, and of each row where there is none"}
_NUMBER = r"\d{1,9}(?:\.\d{1,9})?"
_UNIT = r"(?:ms|us|s|secs?|seconds?|milliseconds?)"
_LINE = (
    r"[ ]{0,8}(?:[-*] )?\[?(?i:rank)[ _:#]?[ ]{0,4}(?P<rank>\d{1,6})\]?[ ]?[:=|,]?[ ]{0,20}"
    rf"(?P<value>{_NUMBER})[ ]?(?P<unit>{_UNIT})?\s*$"
)
_DATA = (
    r"[ ]{0,8}\|?(?:[ ]{0,8}[\w.-]{1,64}[ ]{0,20}[|,;\t]){0,2}[ ]{0,8}(?:(?i:rank)[ ]?)?\d{1,6}[ ]{0,20}"
    r"(?:[|,;\t]|[ ]{1,40})[^:]{1,300}$"
)
_RULE = r"[ ]{0,8}[|+:=-][ |+:=-]{3,200}$"
_SPLITS = lazy_regex(r"\s*[|,;\t]\s*|\s{2,}")
_BLANKS = lazy_regex(r"\s+")
_CELL = lazy_regex(rf"(?P<value>{_NUMBER})[ ]?(?P<unit>{_UNIT})?")
_RANK = lazy_regex(r"(?:global[_ -])?rank(?:[_ ]?id)?", re.IGNORECASE)
_RANKED = lazy_regex(r"(?:rank[ ]?)?(\d{1,6})", re.IGNORECASE)
_OF_UNIT = lazy_regex(rf"[ _]*[(\[]?[ ]?(?P<unit>{_UNIT})[ ]?[)\]]?$", re.IGNORECASE)
_IS_TIME = lazy_regex(rf"time|elapsed|latency|duration|{_STEP}|comm|wait|sync|all[-_ ]?reduce|data|load", re.IGNORECASE)
_COUNTS = lazy_regex(r"\b(?:per|/)\s?s|throughput|number|count|\bid\b|size|loss|\b(?:tokens|samples)", re.IGNORECASE)
_IN_BRACKETS = lazy_regex(rf"[(\[]({_UNIT})[)\]]")
_SHORT = {"sec": "s", "secs": "s", "second": "s", "seconds": "s", "millisecond": "ms", "milliseconds": "ms"}
_FEWEST = 3
"""Ranks below which nothing is compared."""


class _Times(Reading):
    """A `StepPart` for each time of each rank."""

    columns: tuple[str, ...] = ()
    at = -1
    part = ""
    unit = ""
    ranks = 0

    def head(self, found: re.Match[str]) -> bool:
        """``| rank | step time (s) |``: the names of the columns."""
        cells = _cells(found[0])
        at = next((index for index, cell in enumerate(cells) if _RANK.fullmatch(cell)), -1)
        if at < 0 or not any(map(_time_of, cells)):
            return False
        self.columns, self.at, self.part = tuple(cells), at, ""
        return True

    def title(self, found: re.Match[str]) -> None:
        """``step time by rank (ms):`` names the time of the lines below."""
        unit = _unit_of(found[0])
        self.part, self.unit, self.columns = "step time", unit, ()

    def data(self, found: re.Match[str]) -> bool:
        """``| 3 | 4.10 |``: the times of one rank."""
        cells = _cells(found[0])
        if len(cells) != len(self.columns) and len(spaced := _BLANKS.split(found[0].strip())) == len(self.columns):
            cells = spaced
        if not self.columns or len(cells) != len(self.columns):
            return False
        rank = _RANKED.fullmatch(cells[self.at])
        for name, cell in zip(self.columns, cells, strict=True):
            told, value = _time_of(name), _CELL.fullmatch(cell)
            if rank is not None and told is not None and value is not None:
                part, unit = told
                self._part(part, float(value["value"]), unit or value["unit"] or "", int(rank[1]))
        self.ranks += rank is not None
        return rank is not None

    def of_rank(self, found: re.Match[str]) -> bool:
        """``rank 11: 4.1 s`` below a title."""
        if self.part:
            self._part(self.part, float(found["value"]), found["unit"] or self.unit, int(found["rank"]))
            self.ranks += 1
        return bool(self.part)

    def _is_ranking(self) -> bool:
        """Are the rows numbered from 1 in the order of one of their times?"""
        times: dict[str, list[tuple[int, float]]] = defaultdict(list)
        for one in self.found:
            times[str(one.fields["part"])].append((one.fields["rank"], one.fields["value"]))
        return any(
            rows[0][0] == 1 and all(low[0] < high[0] and low[1] <= high[1] for low, high in pairwise(rows))
            for rows in times.values()
        )

    def _part(self, part: str, value: float, unit: str, rank: int) -> None:
        unit = _SHORT.get(unit.lower(), unit.lower())
        self.observe("StepPart", tool="a table", part=part, sort=sort_of(part), value=value, unit=unit, rank=rank)

    def end(self) -> None:
        """A head with a few lines that look like rows is no table, and a list of winners has no ranks of a job."""
        if self.ranks < _FEWEST or self._is_ranking():
            self.found_nothing()


def _unit_of(title: str) -> str:
    """The unit that a title gives: ``step time by rank (ms):``."""
    found = _IN_BRACKETS.search(title)
    return found[1] if found else ""


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in _SPLITS.split(line.strip().strip("|").strip())]


def _time_of(name: str) -> tuple[str, str] | None:
    """(part, unit) of a column with times; None for another column."""
    unit = _OF_UNIT.search(name)
    part = name[: unit.start()] if unit else name
    if _RANK.fullmatch(name) or _COUNTS.search(name) or not (part and (unit or "time" in name.lower())):
        return None
    return (part.strip(" _"), unit["unit"] if unit else "") if _IS_TIME.search(part) else None


def _no_prose(_lines: Sequence[str], line: str) -> bool:
    return not is_prose(line)


ROWS = Rows(
    _Times, Row(_HEAD, _Times.head), Row(_TITLE, _Times.title), Row(_RULE), Row(_LINE, _Times.of_rank),
    Row(_DATA, _Times.data, belongs=_no_prose), ONE_BLANK, most=20000, longest=400,
)  # fmt: skip
