"""``ps``: what the processes of a job do: run, are stopped, are held by a debugger, or wait in the kernel.

The columns are those of the header, or of the command if a filter left the header out: ``aux``, ``-o pid,stat,args``.
Source of the format: procps-ng, man 1 ps (PROCESS STATE CODES, STANDARD FORMAT SPECIFIERS).
"""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation, Parsed, observe
from ncdiag.formats.basics import is_elision

KIND = "ps"
COMMANDS: tuple[str, ...] = ("ps",)
_TITLES = r"(?:[A-Z%]{1,10}[ \t]+){0,12}"
ANCHOR = rf"[ \t]{{0,10}}{_TITLES}PID[ \t]+{_TITLES}(?:STAT|S)[ \t]+{_TITLES}(?:CMD|COMMAND|ARGS)[ \t]*$"
STRUCTURE = " \tabcdefghijklmnopqrstuvwxyz%"
_HEADER = lazy_regex(ANCHOR)
_BSD = ("USER", "PID", "%CPU", "%MEM", "VSZ", "RSS", "TTY", "STAT", "START", "TIME", "COMMAND")
"""The columns of ``ps aux``."""
_STATES, _COMMANDS = ("STAT", "S", "STATE"), ("COMMAND", "CMD", "ARGS", "COMM")
_THREADS = ("LWP", "TID", "SPID")
_WORDS = {"LSTART": 5, "STARTED": 5}
"""Columns of several words: ``Fri Oct  6 09:12:03 2023``."""
_COLUMN = r"[a-z%_]+(?::\d+)?(?:=\S*)?"
_LISTED = lazy_regex(rf"\bps\b.*?\s-{{0,2}}[a-zA-Z]*o[ =]?\s?(?P<columns>{_COLUMN}(?:,{_COLUMN})+)")
_TITLE_ENDS = lazy_regex(r"[:=]")
"""Behind the name of a column: its width (``wchan:30``) or its title (``stat=``)."""
_OF_BSD = lazy_regex(r"\bps\s+-?(?=[a-z]*u)[auxwf]{2,6}\b")
_STATE = lazy_regex(r"(?P<state>[RSDTtZIXWKP])[<NLsl+]{0,5}$")
_LOOSE = lazy_regex(r"\s*(?:\S{1,80}\s+){1,12}[RSDTtZIXWKP][<NLsl+]{0,5}\s+\S")
_OF_A_JOB = lazy_regex(
    r"python|torchrun|deepspeed|accelerate|mpirun|mpiexec|orted|prted|hydra|horovod|_perf\b|ray::|vllm|sglang|train"
    r"|pt_main_thread",
    re.IGNORECASE,
)
"""The name of a program that a job consists of; a kernel thread, and one that has ended, is in brackets."""
_LAUNCHES = lazy_regex(
    r"torchrun|deepspeed|accelerate|mpirun|mpiexec|orted|prted|hydra|horovod|\S+\.run\b", re.IGNORECASE
)
_SERVES = lazy_regex(
    r"ipykernel|jupyter|tensorboard|wandb|networkd-dispatcher|unattended-upgrade|nvitop|gpustat|debugpy|language.server"
)
"""Programs in Python that no job waits for."""
_TREE = lazy_regex(r"\A[ \t]*(?:[|`\\][ \t|`\\_-]*)?\{?")
_NUMBER = lazy_regex(r"\d+")
_NOT_GOING_ON = frozenset("TtD")
_LONGEST, _MOST = 2000, 256


def continues(lines: Sequence[str], line: str) -> bool:
    """A row of the table."""
    if not line.strip() or len(line) > _LONGEST:
        return False
    return is_elision(line) or (not lines and _HEADER.match(line) is not None) or _LOOSE.match(line) is not None


class _Process(NamedTuple):
    """A process of a job: the index of its row, and what its columns say.

    ``command`` is without numbers, so that those of all ranks are alike.
    """

    row: int
    state: str
    pid: int
    name: str
    thread: str
    command: str
    wchan: str
    user: str

    @property
    def is_held(self) -> bool:
        """Can it not go on by itself?"""
        return self.state in _NOT_GOING_ON


def parse(section: Section) -> Parsed:
    """An event for each process of a job: those that cannot go on by themselves first, or the first such thread of one.

    Where several processes have one command, these are the ranks: a process that is neither one of them nor a launcher
    is another program, and the ranks do not wait for it. Nor do they for a process of another user than those that run.
    """
    columns = _columns(section)
    found: list[_Process] = []
    unread: list[int] = []
    for index, line in enumerate(section.lines):
        if _HEADER.match(line) or not line.strip() or is_elision(line):
            continue
        cells = _cells(line, columns)
        if cells is None:
            unread.append(index)
        else:
            found += _processes(index, cells)
    pids: dict[str, set[int]] = defaultdict(set)
    for each in found:
        pids[each.command].add(each.pid)
    ranks = {command for command, alike in pids.items() if len(alike) > 1}
    users = {each.user for each in found if not each.is_held}
    shown: dict[tuple[int, str], _Process] = {}
    for each in sorted(found, key=lambda process: not process.is_held):
        is_rank = each.command in ranks if ranks else not users or each.user in users
        if is_rank or _LAUNCHES.search(each.command):
            shown.setdefault((each.pid, each.state), each)
    observations = (_observed(section, each) for each in itertools.islice(shown.values(), _MOST))
    return Parsed(observations=tuple(observations), unread=tuple(unread))


def _columns(section: Section) -> tuple[str, ...]:
    """The names of the columns in capital letters; empty if neither a header nor the command tells them."""
    header = next((line for line in section.lines if _HEADER.match(line)), None)
    if header is not None:
        return tuple(header.split())
    command = section.command or ""
    listed = _LISTED.search(command)
    if listed is not None:
        return tuple(_TITLE_ENDS.split(name)[0].upper() for name in listed["columns"].split(","))
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


def _processes(index: int, cells: dict[str, str]) -> Iterator[_Process]:
    """The process of a row, if it is one of a job."""
    state, command = (next((cells[name] for name in names if name in cells), "") for names in (_STATES, _COMMANDS))
    command = _TREE.sub("", command, count=1)
    letter, pid = _STATE.match(state), cells.get("PID", "")
    name = command.split(" ", 1)[0].rstrip("}:").rpartition("/")[2]
    if (
        letter is None
        or not pid.isdecimal()
        or not _OF_A_JOB.search(name)
        or name.startswith("[")
        or _SERVES.search(command)
    ):
        return
    thread = next((cells[title] for title in _THREADS if cells.get(title, pid) != pid), "")
    alike = _NUMBER.sub("", command)
    yield _Process(
        index, letter["state"], int(pid), name, thread, alike, cells.get("WCHAN", "-"), cells.get("USER", "")
    )


def _observed(section: Section, process: _Process) -> Observation:
    fields = {"state": process.state, "wchan": process.wchan, "name": process.name}
    if process.thread.isdecimal():
        fields["thread_id"] = process.thread
    return observe(
        section, process.row, "Event", event="process-state", origin="app", kind="fact",
        text=section.lines[process.row].strip(), order=section.number(process.row), count=1, pid=process.pid,
        fields=fields,
    )  # fmt: skip
