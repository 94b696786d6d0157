"""``nvidia-smi dmon``: two lines of names and units, then a line for each GPU and sample.

Source of the format: ``nvidia-smi dmon -h`` (CUDA driver package, seen from release 450 to 580). The columns depend on
``-s``; ``-o DT`` puts date and time before them, ``--format csv`` commas between, ``-`` a value that the GPU does not
have.
"""

from __future__ import annotations

import re
from typing import Any

from ncdiag.base.spans import Section
from ncdiag.parsers._rows import BLANK, ELISION, Reading, Row, Rows

KIND = "nvidia_smi_dmon"
COMMANDS: tuple[str, ...] = ("nvidia-smi dmon",)
_HEAD = r"#[ \t]{0,4}(?:(?:Date|YYYYMMDD)[ \t]{1,12})?(?:(?:Time|HH:MM:SS)[ \t]{1,12})?"
ANCHOR = _HEAD + r"gpu[ \t,]{1,8}(?:pwr|gtemp|temp|sm|mclk|pviol|fb|sbecc|rxpci)\b"
_FIELDS = {
    "pwr": "power_watts", "sm": "load_percent", "mem": "memory_activity_percent", "fb": "memory_used_mib",
    "pclk": "sm_clock_mhz",
}  # fmt: skip
"""Field of a Gpu by the column that holds it."""
_MOVING = {"power_watts": 0.3, "memory_activity_percent": 0.3, "sm_clock_mhz": 0.3}
"""Fields that are left out if the samples differ by more than this share of the largest."""
_SMALL = 10
"""A difference, in percent, watts or MHz, that is ignored."""


class _Samples(Reading):
    """The last sample of each GPU, without the values that change from sample to sample."""

    def __init__(self, section: Section) -> None:
        """No column is known before the heading."""
        super().__init__(section)
        self.names: list[str] = []
        self.last: dict[int, tuple[int, dict[str, Any]]] = {}
        self.ranges: dict[tuple[int, str], tuple[int, int]] = {}

    def head(self, found: re.Match[str]) -> None:
        """The names of the columns, which are repeated after some samples."""
        self.names = found[0].lstrip("#").replace(",", " ").split()

    def sample(self, found: re.Match[str]) -> bool:
        """The values of one GPU; not read where they are not as many as the names."""
        cells = found[0].replace(",", " ").split()
        told = dict(zip(self.names, cells, strict=False))
        if len(cells) != len(self.names) or not told.get("gpu", "").isdecimal():
            return False
        values = {field: told.get(name, "-") for name, field in _FIELDS.items()}
        read = {field: int(value) for field, value in values.items() if value.isdecimal()}
        number = int(told["gpu"])
        for field in _MOVING.keys() & read.keys():
            low, high = self.ranges.get((number, field), (read[field], read[field]))
            self.ranges[number, field] = min(low, read[field]), max(high, read[field])
        self.last[number] = (self.index, read)
        return True

    def end(self) -> None:
        """What each GPU did last, as far as it did so all the time."""
        for number, (index, values) in self.last.items():
            kept = {field: value for field, value in values.items() if not self._moves(number, field)}
            self.observe("Gpu", (number,), at=index, **kept)

    def _moves(self, number: int, field: str) -> bool:
        low, high = self.ranges.get((number, field), (0, 0))
        return high - low > max(_SMALL, high * _MOVING.get(field, 1))


ROWS = Rows(
    _Samples,
    Row(ANCHOR + r"[ \t\w,:%/-]{0,300}$", _Samples.head),
    Row(_HEAD + r"Idx[ \t,][ \t,A-Za-z%/#-]{0,300}$"),
    Row(r"[ \t]{0,8}\d[\d:.\- \t,]{4,300}$", _Samples.sample),
    BLANK,
    ELISION,
)
