"""Governors of the processors as a shell shows /sys: each with its file (``grep .``), or counted (``sort | uniq -c``).

Source of the format: Linux Documentation/admin-guide/pm/cpufreq.rst (scaling_governor); grep prints ``FILE:LINE``.
"""

from __future__ import annotations

import re
from collections import Counter

from ncdiag.base.spans import Section
from ncdiag.parsers._rows import Reading, Row, Rows

KIND = "cpufreq"
COMMANDS: tuple[str, ...] = ("cat /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor",)
_NAME = r"(?:performance|powersave|ondemand|conservative|schedutil|userspace)"
_FILE = r"/sys/devices/system/cpu/cpu\d{1,5}/cpufreq/scaling_governor:"
ANCHOR = rf"{_FILE}[ \t]?{_NAME}[ \t]*$|[ \t]{{3,12}}\d{{1,6}} {_NAME}[ \t]*$"


class _Governors(Reading):
    """How many processors have which governor."""

    def __init__(self, section: Section) -> None:
        """None was counted yet."""
        super().__init__(section)
        self.counts: Counter[str] = Counter()

    def governor(self, found: re.Match[str]) -> None:
        """One a line."""
        self.counts[found["name"]] += int(found["count"] or 1)

    def end(self) -> None:
        """All of them as one observation."""
        if self.counts:
            self.observe("Host", at=0, cpu_governors=dict(self.counts))


ROWS = Rows(
    _Governors, Row(rf"(?:{_FILE})?\s{{0,12}}(?:(?P<count>\d{{1,6}}) )?(?P<name>{_NAME})\s*$", _Governors.governor)
)
