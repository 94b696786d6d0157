"""Governors of the processors as a shell shows /sys: each with its file (``grep .``), or counted (``sort | uniq -c``).

Source of the format: Linux Documentation/admin-guide/pm/cpufreq.rst (scaling_governor); grep prints ``FILE:LINE``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from ncdiag.base.spans import Section
from ncdiag.facts.observe import Parsed, observe

KIND = "cpufreq"
COMMANDS: tuple[str, ...] = ("cat /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor",)
_NAME = r"(?:performance|powersave|ondemand|conservative|schedutil|userspace)"
_FILE = r"/sys/devices/system/cpu/cpu\d{1,5}/cpufreq/scaling_governor:"
ANCHOR = rf"{_FILE}[ \t]?{_NAME}[ \t]*$"

_LINE = re.compile(rf"(?:{_FILE})?\s{{0,12}}(?:(?P<count>\d{{1,6}}) )?(?P<name>{_NAME})\s*$")


def continues(lines: Sequence[str], line: str) -> bool:
    """One governor a line."""
    return _LINE.match(line) is not None


def parse(section: Section) -> Parsed:
    """How many processors have which governor."""
    counts: Counter[str] = Counter()
    unread: list[int] = []
    for index, line in enumerate(section.lines):
        found = _LINE.match(line)
        if found:
            counts[found["name"]] += int(found["count"] or 1)
        elif line.strip():
            unread.append(index)
    if not counts:
        return Parsed(unread=tuple(unread))
    return Parsed(observations=(observe(section, 0, "Host", cpu_governors=dict(counts)),), unread=tuple(unread))
