"""``free`` and ``/proc/meminfo``: the memory of the host, and what of it programs can still have.

Source of the formats: procps-ng src/free.c (columns total, used, free, shared, buff/cache, available; with ``-h`` a
suffix on each number), Linux fs/proc/meminfo.c (``Name:   number kB``). What a container is given may be less.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ncdiag.base.spans import Section
from ncdiag.facts.observe import Parsed, observe
from ncdiag.formats.basics import number
from ncdiag.formats.units import size_bytes

KIND = "memory"
_UNITS = ("b", "k", "m", "g", "h", "w", "t", "hw", "wh", "ht", "th", "mt", "tm", "gt", "tg", "mw", "gw")
COMMANDS: tuple[str, ...] = (
    *(f"free -{unit}" for unit in _UNITS), "free --mega", "free --giga", "free --mebi", "free --gibi", "free --human",
    "cat /proc/meminfo", "head /proc/meminfo", "less /proc/meminfo",
)  # fmt: skip
"""``free`` alone is a word of English: what is behind it in a log need not be a table."""
ANCHOR = r"[ \t]{6,20}total[ \t]{1,12}used[ \t]{1,12}free[ \t]{1,12}shared[ \t]|MemTotal:[ \t]{1,16}\d{1,15} kB[ \t]*$"

_HEAD = re.compile(r"\s+total\s+used\s+free\s+shared\s")
_NUMBER = r"\d{1,15}(?:\.\d{1,3})?(?:[KMGTPE]i?B?|B)?"
_ROW = re.compile(
    rf"(?P<name>Mem|Swap|Total|Low|High|Comm|-/\+ buffers/cache):(?P<numbers>(?:\s+(?:{_NUMBER}|-)){{1,8}})\s*$"
)
_INFO = re.compile(r"(?:/proc/meminfo:)?(?P<name>[A-Za-z][\w()]{2,30}):\s{1,30}(?P<value>\d{1,15})(?P<unit> kB)?\s*$")
_OPTION = re.compile(r"\s(?:-\w*?([bkmgh])\w*|--(bytes|kibi|mebi|gibi|kilo|mega|giga|human))(?=\s|$)")
_POWERS = {"b": 0, "k": 1, "m": 2, "g": 3}
_LIMIT = 120


def continues(lines: Sequence[str], line: str) -> bool:
    """The rows of ``free``, or further names of meminfo."""
    if not line.strip() or len(lines) > _LIMIT:
        return False
    first = next((text for text in lines if text.strip()), line)
    if _INFO.match(first):
        return _INFO.match(line) is not None
    return _ROW.match(line) is not None or (_HEAD.match(line) is not None and line is first)


def parse(section: Section) -> Parsed:
    """``memory_bytes`` and ``memory_available_bytes``; numbers of ``free`` in an unknown unit are left out."""
    columns: list[str] = []
    found: dict[str, Any] = {}
    first, unread = None, []
    unit = _unit(section.command)
    for index, line in enumerate(section.lines):
        info, row = _INFO.match(line), _ROW.match(line)
        if info:
            found |= _of_info(info)
        elif _HEAD.match(line):
            columns = line.split()
        elif row:
            found |= _of_row(row, columns, unit) if row["name"] == "Mem" else {}
        elif line.strip():
            unread.append(index)
            continue
        first = index if found and first is None else first
    if first is None:
        return Parsed(unread=tuple(unread))
    return Parsed(observations=(observe(section, first, "Host", **found),), unread=tuple(unread))


def _of_info(found: re.Match[str]) -> dict[str, int]:
    field = {"MemTotal": "memory_bytes", "MemAvailable": "memory_available_bytes"}.get(found["name"])
    return {field: int(found["value"]) * 1024} if field and found["unit"] else {}


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
