"""``cat /sys/fs/cgroup/cpu.stat`` and ``cpu.max``: the limit of processor time of a control group, and what it stopped.

Source: Linux Documentation/admin-guide/cgroup-v2.rst (cpu.max, cpu.stat) and scheduler/sched-bwc.rst, whose cpu.stat of
cgroup v1 has ``nr_periods`` and ``nr_throttled`` as well.
"""

from __future__ import annotations

import re

from ncdiag.base.spans import Section
from ncdiag.parsers._rows import Reading, Row, Rows

KIND = "cgroup_cpu"
_FOLDERS = ("", "cpu/", "cpu,cpuacct/")
_FILES = ("/sys/fs/cgroup/cpu.max", *(f"/sys/fs/cgroup/{folder}cpu.stat" for folder in _FOLDERS))
COMMANDS: tuple[str, ...] = tuple(f"{tool} {file}" for tool in ("cat", "head") for file in _FILES)
ANCHOR = r"(?:usage_usec|nr_periods) \d{1,18}[ \t]*$"

_NAME = r"(?P<name>(?:usage|user|system|nice|throttled|burst|core_sched\.force_idle)_usec|nr_\w{1,20}|\w{1,20}_time)"
_MOST = 16
FEW_PERIODS = 100
"""Minimum number of periods (0.1 seconds each) from which the share describes a job."""


class _Stat(Reading):
    """A section while its counts are read."""

    def __init__(self, section: Section) -> None:
        """No count is known."""
        super().__init__(section)
        self.periods: int | None = None

    def count(self, found: re.Match[str]) -> None:
        """``cpu_throttled`` of the host: the share of the periods in which the group used up its time."""
        if found["name"] == "nr_periods":
            self.periods = int(found["count"])
        elif found["name"] == "nr_throttled" and self.periods is not None and self.periods >= FEW_PERIODS:
            self.observe("Host", cpu_throttled=round(int(found["count"]) / self.periods, 2))

    def limit(self, found: re.Match[str]) -> None:
        """``cpu_limit`` of the host, in processors; ``max`` means no limit."""
        if found["quota"] != "max" and int(found["period"]):
            self.observe("Host", cpu_limit=round(int(found["quota"]) / int(found["period"]), 2))


ROWS = Rows(
    _Stat,
    Row(rf"{_NAME} (?P<count>\d{{1,18}})\s*$", _Stat.count),
    Row(r"(?P<quota>max|\d{1,12}) (?P<period>\d{1,12})\s*$", _Stat.limit),
    most=_MOST,
)
