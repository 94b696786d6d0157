"""``ps``: processes of a job that do not run: stopped, held by a debugger, or waiting in the kernel.

The columns are those of the header, or of the command if a filter left the header out: ``aux``, ``-o pid,stat,args``.
Source of the format: procps-ng, man 1 ps (PROCESS STATE CODES, STANDARD FORMAT SPECIFIERS).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation, Parsed, observe
from ncdiag.formats.basics import is_elision

KIND = "ps"
COMMANDS: tuple[str, ...] = ("ps",)
_TITLES = r"(?:[A-Z%]{1,10}[ \t]+){0,12}"
ANCHOR = rf"[ \t]{{0,10}}{_TITLES}PID[ \t]+{_TITLES}(?:STAT|S)[ \t]+{_TITLES}(?:CMD|COMMAND|ARGS)[ \t]*$"
STRUCTURE = " \tabcdefghijklmnopqrstuvwxyz%"
EVENTS: dict[str, dict[str, str]] = {}
_HEADER = lazy_regex(ANCHOR)
_BSD = ("USER", "PID", "%CPU", "%MEM", "VSZ", "RSS", "TTY", "STAT", "START", "TIME", "COMMAND")
"""The columns of ``ps aux``."""
_STATES, _COMMANDS = ("STAT", "S", "STATE"), ("COMMAND", "CMD", "ARGS", "COMM")
_WORDS = {"LSTART": 5, "STARTED": 5}
"""Columns of several words: ``Fri Oct  6 09:12:03 2023``."""
_LISTED = lazy_regex(r"\bps\b.*?\s-{0,2}[a-zA-Z]*o[ =]?\s?(?P<columns>[a-z%_]+(?:=\S*)?(?:,[a-z%_]+(?:=\S*)?)+)")
_OF_BSD = lazy_regex(r"\bps\s+-?(?=[a-z]*u)[auxwf]{2,6}\b")
_STATE = lazy_regex(r"(?P<state>[RSDTtZIXWKP])[<NLsl+]{0,5}$")
_LOOSE = lazy_regex(r"\s*(?:\S{1,80}\s+){1,12}[RSDTtZIXWKP][<NLsl+]{0,5}\s+\S")
_OF_A_JOB = lazy_regex(
    r"python|torchrun|deepspeed|accelerate|mpirun|mpiexec|orted|prted|hydra|horovod|_perf\b|\bray::|vllm|sglang|train",
    re.IGNORECASE,
)
_NOT_GOING_ON = frozenset("TtD")
_LONGEST, _MOST = 2000, 256


def continues(lines: Sequence[str], line: str) -> bool:
    """A row of the table."""
    if not line.strip() or len(line) > _LONGEST:
        return False
    return is_elision(line) or (not lines and _HEADER.match(line) is not None) or _LOOSE.match(line) is not None


def parse(section: Section) -> Parsed:
    """An event for each process of a job that cannot go on by itself."""
    columns = _columns(section)
    found: list[Observation] = []
    unread: list[int] = []
    for index, line in enumerate(section.lines):
        if _HEADER.match(line) or not line.strip() or is_elision(line):
            continue
        cells = _cells(line, columns)
        if cells is None:
            unread.append(index)
        elif len(found) < _MOST:
            found += _held(section, index, cells)
    return Parsed(observations=tuple(found), unread=tuple(unread))


def _columns(section: Section) -> tuple[str, ...]:
    """The names of the columns in capital letters; empty if neither a header nor the command tells them."""
    header = next((line for line in section.lines if _HEADER.match(line)), None)
    if header is not None:
        return tuple(header.split())
    command = section.command or ""
    listed = _LISTED.search(command)
    if listed is not None:
        return tuple(name.partition("=")[0].upper() for name in listed["columns"].split(","))
    return _BSD if _OF_BSD.search(command) else ()


def _cells(line: str, columns: Sequence[str]) -> dict[str, str] | None:
    """The values of a row by the names of the columns; None if the row does not have them."""
    widths = [_WORDS.get(name, 1) for name in columns]
    parts = line.split(None, sum(widths) - 1) if columns else []
    if len(parts) < sum(widths):
        return None
    cells: dict[str, str] = {}
    at = 0
    for name, width in zip(columns, widths, strict=True):
        cells[name] = " ".join(parts[at : at + width])
        at += width
    return cells


def _held(section: Section, index: int, cells: dict[str, str]) -> Iterator[Observation]:
    state, command = (next((cells[name] for name in names if name in cells), "") for names in (_STATES, _COMMANDS))
    letter, pid = _STATE.match(state), cells.get("PID", "")
    if letter is None or letter["state"] not in _NOT_GOING_ON or not pid.isdecimal() or not _OF_A_JOB.search(command):
        return
    name = command.split()[0].rpartition("/")[2]
    if name == "grep":
        return
    fields = {"state": letter["state"], "wchan": cells.get("WCHAN", "-"), "name": name}
    yield observe(
        section, index, "Event", event="process-state", origin="app", kind="fact", text=section.lines[index].strip(),
        order=section.number(index), count=1, pid=int(pid), fields=fields,
    )  # fmt: skip
