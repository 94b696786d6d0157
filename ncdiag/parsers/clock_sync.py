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
from ncdiag.parsers._rows import Reading, Row, Rows, never

KIND = "clock_sync"
COMMANDS: tuple[str, ...] = ("chronyc tracking", "chronyc -n tracking", "timedatectl", "timedatectl show")
ANCHOR = (
    r"Reference ID[ \t]{1,20}: [0-9A-F]{8} |[ \t]{0,20}Local time: [A-Z][a-z]{2} \d{4}-\d\d-\d\d "
    r"|[ \t]{0,20}(?:System clock|NTP) synchronized: (?:yes|no)[ \t]*$|NTPSynchronized=(?:yes|no)[ \t]*$"
)

_OFFSET = r"System time\s{1,20}: (\d{1,12}\.\d{1,12}) seconds (slow|fast) of NTP time"
_LEAP = r"Leap status\s{1,20}: (Normal|Insert second|Delete second|Not synchronised)"
_SYNCHRONIZED = r"\s{0,20}(?:(?:System clock|NTP) synchronized: |NTPSynchronized=)(yes|no)\s*$"
_OTHER = (
    r"(?:Reference ID|Stratum|Ref time \(UTC\)|Last offset|RMS offset|Frequency|Residual freq|Skew|Root delay"
    r"|Root dispersion|Update interval)\s{1,20}: "
    r"|\s{0,20}(?:Local time|Universal time|RTC time|Time zone|NTP enabled|NTP service|RTC in local TZ|DST active"
    r"|(?:Last|Next) DST change|Network time on|systemd-timesyncd\.service active): "
    r"|(?:Timezone|LocalRTC|CanNTP|NTP|TimeUSec|RTCTimeUSec)=|\s{20,40}\w{3} \d{4}-\d\d-\d\d "
)


class _Clock(Reading):
    """``clock_synchronized`` and ``clock_offset_seconds`` (ahead of the reference: positive)."""

    def __init__(self, section: Section) -> None:
        """Nothing is known yet."""
        super().__init__(section)
        self.fields: dict[str, Any] = {}
        self.at = 0

    def other(self, _: re.Match[str]) -> None:
        """The observation is that of the last line until both values are known."""
        self.at = self.at if len(self.fields) > 1 else self.index

    def offset(self, found: re.Match[str]) -> None:
        """How far the clock is off."""
        self.fields["clock_offset_seconds"] = float(found[1]) * (1 if found[2] == "fast" else -1)
        self.other(found)

    def state(self, found: re.Match[str]) -> None:
        """Whether anything keeps the clock."""
        self.fields["clock_synchronized"] = found[1] not in {"Not synchronised", "no"}
        self.other(found)

    def end(self) -> None:
        """Both as one observation; without the offset where the clock follows nothing."""
        if self.fields.get("clock_synchronized") is False:
            self.fields.pop("clock_offset_seconds", None)
        if self.fields:
            self.observe("Host", at=self.at, **self.fields)


def _new(lines: Sequence[str], line: str) -> bool:
    """A name that the section has already begins another output."""
    name = line.partition(":")[0]
    return not any(text.partition(":")[0] == name for text in lines if ":" in text)


ROWS = Rows(
    _Clock,
    Row(_OFFSET, _Clock.offset, belongs=_new),
    Row(_LEAP, _Clock.state, belongs=_new),
    Row(_SYNCHRONIZED, _Clock.state, belongs=_new),
    Row(_OTHER, _Clock.other, belongs=_new),
    Row(r"\s*$", _Clock.other, belongs=never),
)
