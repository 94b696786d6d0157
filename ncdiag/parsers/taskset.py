"""Processors that a process may use: ``taskset -cp PID``, and ``Cpus_allowed_list`` of /proc/PID/status.

Source of the formats: util-linux schedutils/taskset.c (``pid %d's %s affinity list: %s``), Linux
Documentation/filesystems/proc.rst; grep puts ``FILE:`` before a line when it looks into several files.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ncdiag.base.spans import Section
from ncdiag.facts.observe import Parsed, observe

KIND = "taskset"
COMMANDS: tuple[str, ...] = ("taskset -cp", "taskset -pc", "taskset -c -p", "taskset -p -c", "grep Cpus_allowed_list")
_LIST = r"\d{1,5}(?:[-,:/]\d{1,5}){0,400}"
_FILE = r"/proc/\d{1,9}/status:"
ANCHOR = rf"pid \d{{1,9}}'s (?:current |new )?affinity list: {_LIST}[ \t]*$|{_FILE}Cpus_allowed_list:[ \t]"

_TASKSET = re.compile(rf"pid (?P<pid>\d{{1,9}})'s (?P<when>current |new )?affinity list: (?P<cpus>{_LIST})\s*$")
_STATUS = re.compile(rf"(?:/proc/(?P<pid>\d{{1,9}})/status:)?Cpus_allowed_list:\s{{1,8}}(?P<cpus>{_LIST})\s*$")
_OF_COMMAND = re.compile(r"/proc/(\d{1,9})/status")


def continues(lines: Sequence[str], line: str) -> bool:
    """One process a line."""
    return _TASKSET.match(line) is not None or _STATUS.match(line) is not None


def parse(section: Section) -> Parsed:
    """The processors of each process; after a change by taskset, the new ones."""
    named = _OF_COMMAND.search(section.command or "")
    found: dict[int, tuple[int, str]] = {}
    unread: list[int] = []
    for index, line in enumerate(section.lines):
        told = _TASKSET.match(line) or _STATUS.match(line)
        pid = told["pid"] or (named[1] if named else None) if told else None
        if told and pid:
            found[int(pid)] = index, told["cpus"]
        elif line.strip():
            unread.append(index)
    observed = (
        observe(section, index, "Host", process_cpus=[{"pid": pid, "cpus": cpus}])
        for pid, (index, cpus) in found.items()
    )
    return Parsed(observations=tuple(observed), unread=tuple(unread))
