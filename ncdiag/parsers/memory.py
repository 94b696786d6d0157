"""``free`` and ``/proc/meminfo``: the memory of the host, and what of it programs can still have.

Source of the formats: procps-ng src/free.c (columns total, used, free, shared, buff/cache, available; with ``-h`` a
suffix on each number), Linux fs/proc/meminfo.c (``Name:   number kB``). What a container is given may be less.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.formats.basics import number
from ncdiag.formats.units import size_bytes
from ncdiag.parsers._rows import Reading, Row, Rows, at_start, first_line

KIND = "memory"
_UNITS = ("b", "k", "m", "g", "h", "w", "t", "hw", "wh", "ht", "th", "mt", "tm", "gt", "tg", "mw", "gw")
COMMANDS: tuple[str, ...] = (
    *(f"free -{unit}" for unit in _UNITS), "free --mega", "free --giga", "free --mebi", "free --gibi", "free --human",
    "cat /proc/meminfo", "head /proc/meminfo", "less /proc/meminfo",
)  # fmt: skip
"""``free`` alone is a word of English: what is behind it in a log need not be a table."""
ANCHOR = (
    r"[ \t]{6,20}total[ \t]{1,12}used[ \t]{1,12}free[ \t]{1,12}shared[ \t]"
    r"|(?:Mem(?:Total|Free|Available)|CmaTotal):[ \t]{1,16}\d{1,15} kB[ \t]*$"
)

_NUMBER = r"\d{1,15}(?:\.\d{1,3})?(?:[KMGTPE]i?B?|B)?"
_ROW = rf"(?P<name>Mem|Swap|Total|Low|High|Comm|-/\+ buffers/cache):(?P<numbers>(?:\s+(?:{_NUMBER}|-)){{1,8}})\s*$"
_INFO = r"(?:/proc/meminfo:)?(?P<name>[A-Za-z][\w()]{2,30}):\s{1,30}(?P<value>\d{1,15})(?P<unit> kB)?\s*$"
_IS_INFO = lazy_regex(_INFO)
_FIELDS = {
    "MemTotal": "memory_bytes", "MemAvailable": "memory_available_bytes",
    "CmaTotal": "cma_bytes", "CmaFree": "cma_free_bytes",
}  # fmt: skip
_OPTION = lazy_regex(r"\s(?:-\w*?([bkmgh])\w*|--(bytes|kibi|mebi|gibi|kilo|mega|giga|human))(?=\s|$)")
_POWERS = {"b": 0, "k": 1, "m": 2, "g": 3}
_LIMIT = 120


class _Memory(Reading):
    """The memory of the host and its contiguous area; numbers of ``free`` in an unknown unit are left out."""

    def __init__(self, section: Section) -> None:
        """Nothing was read yet."""
        super().__init__(section)
        self.columns: list[str] = []
        self.fields: dict[str, Any] = {}
        self.first = 0

    def info(self, found: re.Match[str]) -> None:
        """A line of meminfo."""
        field = _FIELDS.get(found["name"])
        self._put({field: int(found["value"]) * 1024} if field and found["unit"] else {})

    def heading(self, _: re.Match[str]) -> None:
        """The columns of ``free``."""
        self.columns = self.line.split()

    def row(self, found: re.Match[str]) -> None:
        """A row of ``free``."""
        self._put(_of_row(found, self.columns, _unit(self.section.command)) if found["name"] == "Mem" else {})

    def end(self) -> None:
        """Both as one observation."""
        if self.fields:
            self.observe("Host", at=self.first, **self.fields)

    def _put(self, fields: dict[str, int]) -> None:
        self.first = self.first if self.fields else self.index
        self.fields |= fields


def _of_info(lines: Sequence[str], line: str) -> bool:
    return _IS_INFO.match(first_line(lines, line)) is not None


def _of_free(lines: Sequence[str], line: str) -> bool:
    return not _of_info(lines, line)


ROWS = Rows(
    _Memory,
    Row(r"(?:Mem|Swap|Total|Low|High|Comm):\s{1,30}\d{1,15}\s*$"),  # cut off after one number
    Row(_INFO, _Memory.info, belongs=_of_info),
    Row(r"\s+total\s+used\s+free\s+shared\s", _Memory.heading, belongs=at_start),
    Row(_ROW, _Memory.row, belongs=_of_free),
    most=_LIMIT + 1,
)


def _of_row(row: re.Match[str], columns: Sequence[str], unit: int | None) -> dict[str, int]:
    """Old releases have no column ``available``."""
    values = dict(zip(columns, row["numbers"].split(), strict=False))
    sizes = {name: _bytes(values[name], unit) for name in ("total", "available") if name in values}
    fields = {"total": "memory_bytes", "available": "memory_available_bytes"}
    return {fields[name]: size for name, size in sizes.items() if size is not None}


def _bytes(text: str, unit: int | None) -> int | None:
    plain = number(text)
    if plain is None:
        return size_bytes(text.removesuffix("i"))
    return None if unit is None else plain * unit


def _unit(command: str | None) -> int | None:
    """Bytes in one of ``free``'s numbers: KiB where no option says otherwise, None where the command is not known."""
    if command is None:
        return None
    options = [(short or long)[0] for short, long in _OPTION.findall(command)]
    power = next((_POWERS[letter] for letter in reversed(options) if letter in _POWERS), 1)
    step: int = 1000 if "--si" in command or re.search(r"--(?:kilo|mega|giga)\b", command) else 1024
    return step if power == 1 else int(step**power)
