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
_FIELDS = {"pwr": "power_watts", "sm": "load_percent", "mem": "memory_activity_percent", "fb": "memory_used_mib"}
"""Field of a Gpu by the column that holds it."""


class _Samples(Reading):
    """The last sample of each GPU."""

    def __init__(self, section: Section) -> None:
        """No column is known before the heading."""
        super().__init__(section)
        self.names: list[str] = []
        self.last: dict[int, tuple[int, dict[str, Any]]] = {}

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
        self.last[int(told["gpu"])] = (self.index, read)
        return True

    def end(self) -> None:
        """What each GPU did last."""
        for number, (index, values) in self.last.items():
            self.observe("Gpu", (number,), at=index, **values)


ROWS = Rows(
    _Samples,
    Row(ANCHOR + r"[ \t\w,:%/-]{0,300}$", _Samples.head),
    Row(_HEAD + r"Idx[ \t,][ \t,A-Za-z%/#-]{0,300}$"),
    Row(r"[ \t]{0,8}\d[\d:.\- \t,]{4,300}$", _Samples.sample),
    BLANK,
    ELISION,
)
