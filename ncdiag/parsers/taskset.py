"""Processors that a process may use: ``taskset -cp PID``, and ``Cpus_allowed_list`` of /proc/PID/status.

Source of the formats: util-linux schedutils/taskset.c (``pid %d's %s affinity list: %s``), Linux
Documentation/filesystems/proc.rst; grep puts ``FILE:`` before a line when it looks into several files.
"""

from __future__ import annotations

import re

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.parsers._rows import Reading, Row, Rows

KIND = "taskset"
COMMANDS: tuple[str, ...] = ("taskset -cp", "taskset -pc", "taskset -c -p", "taskset -p -c", "grep Cpus_allowed_list")
_LIST = r"\d{1,5}(?:[-,:/]\d{1,5}){0,400}"
_FILE = r"/proc/\d{1,9}/status:"
ANCHOR = rf"pid \d{{1,9}}'s (?:current |new )?affinity list: {_LIST}[ \t]*$|{_FILE}Cpus_allowed_list:[ \t]"

_OF_COMMAND = lazy_regex(r"/proc/(\d{1,9})/status")


class _Processes(Reading):
    """The processors of each process; after a change by taskset, the new ones."""

    def __init__(self, section: Section) -> None:
        """The process is that which the command names, unless a line names one."""
        super().__init__(section)
        named = _OF_COMMAND.search(section.command or "")
        self.named: str | None = named[1] if named else None
        self.lists: dict[int, tuple[int, str]] = {}

    def process(self, told: re.Match[str]) -> bool:
        """One process a line."""
        pid = told["pid"] or self.named
        if pid:
            self.lists[int(pid)] = self.index, told["cpus"]
        return bool(pid)

    def end(self) -> None:
        """The last list of each."""
        for pid, (at, cpus) in self.lists.items():
            self.observe("Host", at=at, process_cpus=[{"pid": pid, "cpus": cpus}])


ROWS = Rows(
    _Processes,
    Row(rf"pid (?P<pid>\d{{1,9}})'s (?:current |new )?affinity list: (?P<cpus>{_LIST})\s*$", _Processes.process),
    Row(rf"(?:/proc/(?P<pid>\d{{1,9}})/status:)?Cpus_allowed_list:\s{{1,8}}(?P<cpus>{_LIST})\s*$", _Processes.process),
)
