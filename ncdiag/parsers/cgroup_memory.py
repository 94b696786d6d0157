"""``cat /sys/fs/cgroup/memory.events``: how often the kernel killed a process of the control group for its memory.

Source: Linux Documentation/admin-guide/cgroup-v2.rst (memory.events); memory.oom_control of cgroup v1 has ``oom_kill``
as well.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ncdiag.base.spans import Section
from ncdiag.facts.observe import Parsed, observe

KIND = "cgroup_memory"
_FILES = ("/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control")
COMMANDS: tuple[str, ...] = tuple(f"{tool} {file}" for tool in ("cat", "head") for file in _FILES)
ANCHOR = r"oom_kill_disable [01][ \t]*$"

_NAME = r"(?P<name>low|high|max|oom|oom_kill|oom_group_kill|sock_throttled|oom_kill_disable|under_oom)"
_PAIR = re.compile(rf"{_NAME} (?P<count>\d{{1,18}})\s*$")
_MOST = 10


def continues(lines: Sequence[str], line: str) -> bool:
    """A name and a number a line."""
    return _PAIR.match(line) is not None and len(lines) < _MOST


def parse(section: Section) -> Parsed:
    """``oom_kills`` of the host, as its control group counts them."""
    found = []
    unread: list[int] = []
    for index, line in enumerate(section.lines):
        pair = _PAIR.match(line)
        if pair and pair["name"] == "oom_kill":
            found.append(observe(section, index, "Host", oom_kills=int(pair["count"])))
        elif line.strip() and not pair:
            unread.append(index)
    return Parsed(observations=tuple(found), unread=tuple(unread))
