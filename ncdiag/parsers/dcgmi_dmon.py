"""``dcgmi dmon``: a line of short field names, a line ``ID`` with units, then a line for each GPU and sample.

Source of the format: dcgmi dmon of DCGM 3.3 (NVIDIA/DCGM dcgmi/DeviceMonitor.cpp), the names are the short names of
dcgm_fields.cpp. ``N/A`` is a value that is not there (yet). Fields of PROF (``GRACT``, ``SMACT``, ``DRAMA``) are shares
from 0 to 1, ``GPUTL`` and ``MCUTL`` are percent.
"""

from __future__ import annotations

import re
from typing import Any

from ncdiag.base.spans import Section
from ncdiag.parsers._rows import BLANK, ELISION, Reading, Row, Rows

KIND = "dcgmi_dmon"
COMMANDS: tuple[str, ...] = ("dcgmi dmon",)
ANCHOR = r"#Entity[ \t]{1,12}[A-Z][A-Z0-9]{1,7}[ \tA-Z0-9]{0,300}$"
_FIELDS = {
    "GPUTL": ("load_percent", 1), "GRACT": ("load_percent", 100), "SMACT": ("load_percent", 100),
    "MCUTL": ("memory_activity_percent", 1), "DRAMA": ("memory_activity_percent", 100),
    "POWER": ("power_watts", 1), "FBUSD": ("memory_used_mib", 1), "SMCLK": ("sm_clock_mhz", 1),
}  # fmt: skip
"""Field of a Gpu and the factor to its unit, by the short name; of two names of one field the first counts."""


class _Samples(Reading):
    """The last sample of each GPU."""

    def __init__(self, section: Section) -> None:
        """No column is known before the heading."""
        super().__init__(section)
        self.names: list[str] = []
        self.last: dict[int, tuple[int, dict[str, Any]]] = {}

    def head(self, found: re.Match[str]) -> None:
        """The names of the columns, which are repeated after some samples."""
        self.names = found[0].split()[1:]

    def sample(self, found: re.Match[str]) -> bool:
        """The values of one GPU; not read where they are not as many as the names."""
        told = dict(zip(self.names, values := found["values"].split(), strict=False))
        if len(values) != len(self.names):
            return False
        read: dict[str, Any] = {}
        for name, (field, factor) in _FIELDS.items():
            if told.get(name, "N/A") != "N/A":
                read.setdefault(field, round(float(told[name]) * factor))
        self.last[int(found["gpu"])] = (self.index, read)
        return True

    def end(self) -> None:
        """What each GPU did last."""
        for number, (index, values) in self.last.items():
            self.observe("Gpu", (number,), at=index, **values)


_VALUE = r"(?:\d{1,12}(?:\.\d{1,6})?|N/A)"
ROWS = Rows(
    _Samples,
    Row(ANCHOR, _Samples.head),
    Row(r"ID(?:[ \t]{1,300}\([A-Za-z/%]{1,6}\)){0,40}[ \t]*$"),
    Row(rf"GPU (?P<gpu>\d{{1,3}})(?P<values>(?:[ \t]{{1,16}}{_VALUE}){{1,40}})[ \t]*$", _Samples.sample),
    BLANK,
    ELISION,
)
