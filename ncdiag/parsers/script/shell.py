"""Shell scripts that give each task its own number, and let the shell fill it in before the tasks start.

A variable of a task (``SLURM_PROCID``) has the value of the batch script's own process, 0, or none, where the script's
shell expands it: in double quotes or without quotes. In single quotes, or after a backslash, the task expands it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import span
from ncdiag.facts.observe import Observation

KIND = "rank-expanded-early"
_OF_A_TASK = (
    "SLURM_PROCID", "SLURM_NODEID", "SLURM_LOCALID", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK",
    "OMPI_COMM_WORLD_NODE_RANK", "PMI_RANK", "PMIX_RANK", "MV2_COMM_WORLD_RANK",
)  # fmt: skip
_VARIABLE = lazy_regex(rf"\$\{{?(?P<name>{'|'.join(_OF_A_TASK)})\b")
_STARTS = lazy_regex(r"\s*(?:\w+=\S*\s|time\s|exec\s){0,4}(?:srun|mpirun|mpiexec)\s")
_STORED = lazy_regex(r"\s*(?:export\s)?[A-Za-z_]\w*=(?=[\"'])")
_LAUNCHER = lazy_regex(r"\b(?:torchrun|accelerate\slaunch|torch\.distributed\.(?:run|launch)|deepspeed)\b")
_NUMBER = lazy_regex(r"--(?:node|machine)[-_]rank[=\s]+[\"']?$")
_RANK, _NEAR = lazy_regex(r"(?:rank|RANK)[=\s]+[\"']?$"), 40
_EXPORTED = lazy_regex(
    r"\s*export\s(?:RANK|LOCAL_RANK|NODE_RANK|MACHINE_RANK|GROUP_RANK)=[\"']?(?P<value>\$\{?[A-Z_]+\}?)[\"']?\s*;?\s*(?:#.*)?$"
)
_NUMBERED_LATER = lazy_regex(r"rdzv[-_]backend[=\s]+[\"']?(?:c10d|etcd)", re.IGNORECASE)
"""A rendezvous that numbers the hosts itself, so that the number on the line has no effect."""
_ONE_HOST = lazy_regex(r"--(?:nnodes|num[-_]machines|nodes)[=\s]+1\b|\s-N\s?1\b")
_OTHER_FILE = lazy_regex(r"#!")
_QUOTED = lazy_regex(r"^(?:\s{0,8}>\s?){0,3}\s*")
"""What is before a line that is quoted or indented."""
_LEFT_OUT = lazy_regex(r"[\[<(]?\s?(?:\.\.\.|snip\b|cut\b|omitted\b|truncated\b).{0,60}$", re.IGNORECASE)
_MOST, _LONGEST, _TEXT, _FEW = 60, 4000, 400, 20
"""Lines of a command, characters of a line, characters that are kept, and variables of a command."""


class _Command(NamedTuple):
    """A command, over as many lines as its quotes and backslashes take; ``early`` are the places of variables."""

    first: int
    text: str
    early: tuple[int, ...]


def may_hold(text: str) -> bool:
    """False for texts that name no variable of a task, as most do."""
    return any(map(text.__contains__, _OF_A_TASK))


def read(source: str, lines: Sequence[tuple[int, str]]) -> list[Observation]:
    """The first line that hands all tasks one number, where each is to have its own."""
    bare = [(number, _QUOTED.sub("", line[:_LONGEST]).rstrip()) for number, line in lines]
    found = next(_faults(bare), None)
    if found is None:
        return []
    number, name, text = found
    fields = {"kind": KIND, "call": name, "one_host": False, "text": text.strip()[:_TEXT]}
    return [Observation(entity="ScriptFault", span=span(source, number, text), fields=fields)]


def _faults(lines: Sequence[tuple[int, str]]) -> Iterator[tuple[int, str, str]]:
    """Number of the line, variable and line of each fault."""
    exported: tuple[int, str, str] | None = None
    place = 0
    while place < len(lines):
        number, line = lines[place]
        if _OTHER_FILE.match(line):
            exported = None
        if (given := _EXPORTED.match(line)) is not None and (variable := _VARIABLE.match(given["value"])) is not None:
            exported = exported or (number, variable["name"], line)
        starts = _STARTS.match(line) is not None
        if not starts and not _STORED.match(line):
            place += 1
            continue
        command = _command(lines, place)
        place = command.first + 1
        if _NUMBERED_LATER.search(command.text) or _ONE_HOST.search(command.text):
            continue
        if starts and exported is not None and not command.text.count("'"):
            yield exported
        for at in command.early:
            if (starts and _is_number(command.text, at)) or (
                _LAUNCHER.search(command.text, 0, at) and _NUMBER.search(command.text, 0, at)
            ):
                variable = _VARIABLE.match(command.text, at)
                of = lines[place - 1 - command.text.count("\n", at)]
                yield of[0], variable["name"] if variable else "", of[1]


def _is_number(text: str, at: int) -> bool:
    """True for the value of an option or a variable with the number of a rank or host."""
    return _RANK.search(text[max(0, at - _NEAR) : at]) is not None


def _command(lines: Sequence[tuple[int, str]], place: int) -> _Command:
    """The command that begins in this line; ``first`` is the index of its last line."""
    pieces: list[str] = []
    early: list[int] = []
    quote, length = "", 0
    for index in range(place, min(place + _MOST, len(lines))):
        line = lines[index][1]
        quote = _scanned(line, quote, early, length)
        pieces.append(line)
        length += len(line) + 1
        if not (quote or line.endswith("\\") or (index > place and _LEFT_OUT.match(line))):
            break
    return _Command(index, "\n".join(pieces), tuple(early))


def _scanned(line: str, quote: str, early: list[int], begin: int) -> str:
    """The quote that is open at the end of the line; the places of variables that the shell expands go to ``early``."""
    at = 0
    while at < len(line):
        char = line[at]
        if char == "\\" and quote != "'":
            at += 2
            continue
        if char in "\"'" and quote in {"", char}:
            quote = "" if quote else char
        elif char == "$" and quote != "'" and len(early) < _FEW and _VARIABLE.match(line, at):
            early.append(begin + at)
        at += 1
    return quote
