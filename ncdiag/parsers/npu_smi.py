"""``npu-smi info``: Ascend NPUs with health and PCI address; ``-t topo``: how they are joined; ``-t board``.

Format: npu-smi of Huawei's driver packages, as its documentation shows it: a box with two rows for each chip
(``| 0     910B3 | OK | ...`` and ``| 0 | 0000:C1:00.0 | ...``), a matrix of NPU0, NPU1 ... with HCCS, PIX, PHB, SYS and
the like, and lists of ``name : value`` below ``NPU ID``.
"""

from __future__ import annotations

import re
from typing import Any

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.facts.scalars import bus_id
from ncdiag.formats import basics
from ncdiag.parsers._rows import BLANK, Reading, Row, Rows, not_again

KIND = "npu_smi"
COMMANDS: tuple[str, ...] = ("npu-smi",)
_CELL = r"(?:X|HCCS(?:_SW)?|SIO|PIX|PIXB|PXB|PHB|NODE|SYS|NA|HCCS\d|UB)"
ANCHOR = (
    r"\| npu-smi \S+[ \t]+Version: |\|\s{1,4}NPU\s{1,8}Name\s{1,40}\| Health "
    r"|\|\s{1,4}\d{1,3}\s{1,8}(?:Ascend)?[39]10\w{0,6}\s{1,24}\| (?:Warning|Alarm|Critical) "
    r"|[ \t]*NPU0[ \t]+NPU1[ \t]|[ \t]*NPU\d{1,2}[ \t]+" + _CELL + r"[ \t]"
    r"|[ \t]*NPU ID[ \t]+: \d{1,3}[ \t]*$"
)
_CHIP = (
    r"\|\s*(?P<npu>\d{1,3})\s+(?P<model>[A-Za-z0-9][\w-]{1,30})\s*"
    r"\|\s*(?P<health>OK|Warning|Alarm|Critical|UNKNOWN|\S{1,16})\s*\|"
)
_BUS = r"\|\s*\d{1,3}\s+(?:\d{1,3}\s+)?\|\s*(?P<bus>[0-9A-Fa-f]{4}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7])\s*\|"
_COLUMNS = r"\s*NPU\d{1,2}(?:\s+(?:NPU|NIC)\w{1,3})*(?:\s+CPU Affinity)?\s*$"
_ROW = rf"\s*NPU(?P<npu>\d{{1,2}})\s+(?P<cells>{_CELL}(?:\s.{{0,4000}})?)$"
_WORD = lazy_regex(rf"{_CELL}$")
_VALUE = r"\s*(?P<name>[A-Z][\w ()%./-]{1,50}?)\s+: (?P<value>\S.{0,100}?)\s*$"
_FIELDS = {"Health Status": "health", "Health": "health", "Chip Name": "model", "PCIe Bus Info": "bus_id"}
_NEAR = {"PIX": "PIX", "PIXB": "PXB", "PXB": "PXB", "PHB": "PHB", "NODE": "NODE", "SYS": "SYS"}


class _Npus(Reading):
    """An observation an NPU, and a link a pair."""

    def __init__(self, section: Section) -> None:
        """The NPU is that which the command names, until a line names one."""
        super().__init__(section)
        self.npus: dict[int, tuple[int, dict[str, Any]]] = {}
        self.links: dict[tuple[int, int], tuple[int, str]] = {}
        asked = re.search(r"\s-i\s+(\d{1,3})\b", section.command or "")
        self.npu = int(asked[1]) if asked else None

    def _fields(self, npu: int) -> dict[str, Any]:
        return self.npus.setdefault(npu, (self.index, {}))[1]

    def chip(self, found: re.Match[str]) -> None:
        """The first row of an NPU in the box."""
        self.npu = int(found["npu"])
        self._fields(self.npu).update(model=found["model"], health=found["health"])

    def bus(self, found: re.Match[str]) -> None:
        """The second one."""
        if self.npu is not None:
            self._fields(self.npu).setdefault("bus_id", bus_id(found["bus"]))

    def row(self, found: re.Match[str]) -> None:
        """A row of the matrix."""
        npu, cells = int(found["npu"]), found["cells"].split()
        words = [word for word in cells if _WORD.match(word)]
        affinity = cells[len(words)] if len(cells) > len(words) else ""
        fields = self._fields(npu)
        if re.fullmatch(r"[\d,-]{1,200}", affinity):
            fields["cpu_affinity"] = affinity
        for other, word in enumerate(words):
            if other != npu and word not in {"X", "NA"}:
                self.links.setdefault((min(npu, other), max(npu, other)), (self.index, word))

    def value(self, found: re.Match[str]) -> None:
        """A name and its value, of the NPU above."""
        name, value = found["name"], found["value"]
        if name == "NPU ID":
            self.npu = basics.number(value)
        elif self.npu is not None and name in _FIELDS:
            field = _FIELDS[name]
            self._fields(self.npu).setdefault(field, bus_id(value) if field == "bus_id" else value)

    def end(self) -> None:
        """NPUs first."""
        for npu, (at, fields) in self.npus.items():
            self.observe("Npu", (npu,), at=at, **fields)
        for (a, b), (at, word) in self.links.items():
            self.observe("TopoLink", (f"NPU{a}", f"NPU{b}"), at=at, link_type=word, level=_NEAR.get(word))


ROWS = Rows(
    _Npus,
    Row(r"\s*\|\s*npu-smi ", belongs=not_again),
    Row(_BUS, _Npus.bus),
    Row(_CHIP, _Npus.chip),
    Row(_ROW, _Npus.row),
    Row(_VALUE, _Npus.value),
    Row(_COLUMNS),
    Row(r"\s*[|+]"),  # the rest of the box
    Row(r"\s*(?:Legend:|\w{1,8}\s+= )"),
    BLANK,
)
