"""``cat /sys/fs/cgroup/memory.events``: how often the kernel killed a process of the control group for its memory.

Source: Linux Documentation/admin-guide/cgroup-v2.rst (memory.events); memory.oom_control of cgroup v1 has ``oom_kill``
as well.
"""

from __future__ import annotations

import re

from ncdiag.parsers._rows import Reading, Row, Rows

KIND = "cgroup_memory"
_FILES = ("/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control")
COMMANDS: tuple[str, ...] = tuple(f"{tool} {file}" for tool in ("cat", "head") for file in _FILES)
ANCHOR = r"oom_kill_disable [01][ \t]*$"

_NAME = r"(?P<name>low|high|max|oom|oom_kill|oom_group_kill|sock_throttled|oom_kill_disable|under_oom)"
_MOST = 10


def _pair(read: Reading, pair: re.Match[str]) -> None:
    """``oom_kills`` of the host, as its control group counts them."""
    if pair["name"] == "oom_kill":
        read.observe("Host", oom_kills=int(pair["count"]))


ROWS = Rows(Reading, Row(rf"{_NAME} (?P<count>\d{{1,18}})\s*$", _pair), most=_MOST)
