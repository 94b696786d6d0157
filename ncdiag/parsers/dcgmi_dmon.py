"""``dcgmi dmon``: a line of short field names, a line ``ID`` with units, then a line for each entity and sample.

Source of the format: dcgmi dmon of DCGM 3.3 and 4.4 (NVIDIA/DCGM dcgmi/DeviceMonitor.cpp), the names are the short
names of dcgm_fields.cpp, whether a field was asked for by number (``-e``) or group (``-g``). ``N/A`` is a value that is
not there (yet), and an entity without a field has an empty cell; columns have fixed widths. Fields of PROF (``GRACT``,
``SMACT``, ``DRAMA``) are shares from 0 to 1, ``GPUTL`` and ``MCUTL`` are percent. Instances of a GPU, links, switches
and processors have lines too; those of whole GPUs are read. Before DCGM 3 it is ``# Entity`` and ``Id``, and lines are
indented (NVIDIA's DCGM documentation, Feature Overview, Profiling).
"""

from __future__ import annotations

import re
from typing import Any

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.parsers._rows import BLANK, ELISION, Reading, Row, Rows

KIND = "dcgmi_dmon"
COMMANDS: tuple[str, ...] = ("dcgmi dmon",)
STRUCTURE = " \t#"
_BLANKS = r"[ \t]{0,12}"
ANCHOR = _BLANKS + r"# ?Entity[ \t]{1,12}[A-Z][A-Z0-9]{1,7}[ \tA-Z0-9]{0,300}$"
_FIELDS = {
    "GPUTL": ("load_percent", 1), "GRACT": ("load_percent", 100), "SMACT": ("load_percent", 100),
    "MCUTL": ("memory_activity_percent", 1), "DRAMA": ("memory_activity_percent", 100),
    "POWER": ("power_watts", 1), "POWINST": ("power_watts", 1), "PMLMT": ("power_limit_watts", 1),
    "FBUSD": ("memory_used_mib", 1), "SMCLK": ("sm_clock_mhz", 1),
}  # fmt: skip
"""Field of a Gpu and the factor to its unit, by the short name; of two names of one field the first counts."""
_NAME = lazy_regex(r"[A-Z][A-Z0-9]{0,8}")
_NUMBER = lazy_regex(r"\d{1,12}(?:\.\d{1,6})?")


class _Samples(Reading):
    """The last sample of each GPU."""

    def __init__(self, section: Section) -> None:
        """No column is known before the heading."""
        super().__init__(section)
        self.names: list[str] = []
        self.columns: list[int] = []
        self.last: dict[int, tuple[int, dict[str, Any]]] = {}

    def head(self, found: re.Match[str]) -> None:
        """The names of the columns, which are repeated after some samples, and where each begins."""
        named = list(_NAME.finditer(found[0], found[0].index("Entity") + len("Entity")))
        self.names = [each[0] for each in named]
        self.columns = [each.start() for each in named]

    def sample(self, found: re.Match[str]) -> bool:
        """The values of one GPU; not read where neither their number nor their columns are those of the names."""
        values = found["values"].split()
        if len(values) != len(self.names):
            values = self.cells(found[0])
        told = dict(zip(self.names, values, strict=False))
        read: dict[str, Any] = {}
        for name, (field, factor) in _FIELDS.items():
            if _NUMBER.fullmatch(told.get(name, "")):
                read.setdefault(field, round(float(told[name]) * factor))
        if not read and "N/A" not in values:
            return False
        self.last[int(found["gpu"])] = (self.index, read)
        return True

    def cells(self, line: str) -> list[str]:
        """The cells of a line by the columns of the heading; none where a word goes across the begin of one."""
        begins = self.columns
        if not begins or any(line[at - 1 : at].strip() for at in begins):
            return []
        return [line[at:end].strip() for at, end in zip(begins, [*begins[1:], len(line)], strict=True)]

    def end(self) -> None:
        """What each GPU did last."""
        for number, (index, values) in self.last.items():
            self.observe("Gpu", (number,), at=index, **values)


_UNIT = r"(?:\([A-Za-z/%]{1,6}\)|[A-Za-z%][A-Za-z/%]{0,5})"
_CELLS = r"[ \t]{2,20}\S{1,80}(?:[ \t]{1,40}\S{1,80}){0,80}"
ROWS = Rows(
    _Samples,
    Row(ANCHOR, _Samples.head),
    Row(rf"{_BLANKS}(?:# ?)?I[Dd](?:[ \t]{{1,300}}{_UNIT}){{0,40}}[ \t]*$"),
    Row(
        _BLANKS + r"GPU (?P<gpu>\d{1,3})(?P<values>(?:[ \t]{1,60}(?:\d{1,20}(?:\.\d{1,6})?|N/A)){1,80})[ \t]*$",
        _Samples.sample,
    ),
    Row(rf"{_BLANKS}GPU (?P<gpu>\d{{1,3}})(?P<values>{_CELLS})[ \t]*$", _Samples.sample),
    Row(rf"{_BLANKS}(?:GPU-C?I|CPU|CPU Core|vGPU|Switch|(?:GPU|SW) \d{{1,3}} LINK|CX) \d{{1,5}}(?:{_CELLS})?[ \t]*$"),
    BLANK,
    ELISION,
)
