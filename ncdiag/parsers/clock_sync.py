"""``chronyc tracking`` and ``timedatectl``: does a daemon keep the clock, and how far is it off?

Sources of the formats: chrony client.c (process_cmd_tracking: ``slow`` means that the clock is behind), systemd
src/timedate/timedatectl.c (``System clock synchronized``, before 239 ``NTP synchronized``; ``show`` prints
``NTPSynchronized``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ncdiag.base.spans import Section
from ncdiag.facts.observe import Parsed, observe

KIND = "clock_sync"
COMMANDS: tuple[str, ...] = ("chronyc tracking", "chronyc -n tracking", "timedatectl", "timedatectl show")
ANCHOR = (
    r"Reference ID[ \t]{1,20}: [0-9A-F]{8} |[ \t]{0,20}Local time: [A-Z][a-z]{2} \d{4}-\d\d-\d\d "
    r"|[ \t]{0,20}(?:System clock|NTP) synchronized: (?:yes|no)[ \t]*$|NTPSynchronized=(?:yes|no)[ \t]*$"
)

_OFFSET = re.compile(r"System time\s{1,20}: (\d{1,12}\.\d{1,12}) seconds (slow|fast) of NTP time")
_LEAP = re.compile(r"Leap status\s{1,20}: (Normal|Insert second|Delete second|Not synchronised)")
_SYNCHRONIZED = re.compile(r"\s{0,20}(?:(?:System clock|NTP) synchronized: |NTPSynchronized=)(yes|no)\s*$")
_OTHER = re.compile(
    r"(?:Reference ID|Stratum|Ref time \(UTC\)|Last offset|RMS offset|Frequency|Residual freq|Skew|Root delay"
    r"|Root dispersion|Update interval)\s{1,20}: "
    r"|\s{0,20}(?:Local time|Universal time|RTC time|Time zone|NTP enabled|NTP service|RTC in local TZ|DST active"
    r"|(?:Last|Next) DST change|Network time on|systemd-timesyncd\.service active): "
    r"|(?:Timezone|LocalRTC|CanNTP|NTP|TimeUSec|RTCTimeUSec)=|\s{20,40}\w{3} \d{4}-\d\d-\d\d "
)


def continues(lines: Sequence[str], line: str) -> bool:
    """The other lines of the same output."""
    known = any(pattern.match(line) for pattern in (_OFFSET, _LEAP, _SYNCHRONIZED, _OTHER))
    name = line.partition(":")[0]
    return known and not any(text.partition(":")[0] == name for text in lines if ":" in text)


def parse(section: Section) -> Parsed:
    """``clock_synchronized`` and ``clock_offset_seconds`` (ahead of the reference: positive)."""
    fields: dict[str, Any] = {}
    first = 0
    unread: list[int] = []
    for index, line in enumerate(section.lines):
        if found := _OFFSET.match(line):
            fields["clock_offset_seconds"] = float(found[1]) * (1 if found[2] == "fast" else -1)
        elif found := _LEAP.match(line):
            fields["clock_synchronized"] = found[1] != "Not synchronised"
        elif found := _SYNCHRONIZED.match(line):
            fields["clock_synchronized"] = found[1] == "yes"
        elif line.strip() and not _OTHER.match(line):
            unread.append(index)
            continue
        first = first if len(fields) > 1 else index
    if fields.get("clock_synchronized") is False:
        fields.pop("clock_offset_seconds", None)  # an offset from nothing
    if not fields:
        return Parsed(unread=tuple(unread))
    return Parsed(observations=(observe(section, first, "Host", **fields),), unread=tuple(unread))
