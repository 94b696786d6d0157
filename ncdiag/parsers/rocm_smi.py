"""``rocm-smi``: AMD GPUs with their load, PCI addresses and NUMA nodes, and ``--showtopo``: how they are joined.

Source of the format: rocm_smi_lib, python_smi_tools/rocm_smi.py (printLog: ``GPU[0]``, two tabs, ``: name: value``;
printLogSpacer; showWeightTopology, showHopsTopology, showTypeTopology with 12 columns a cell; showNumaTopology).
XGMI is RCCL's NVLink, so that the path is NVL.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.facts.scalars import bus_id
from ncdiag.formats import basics
from ncdiag.parsers._rows import BLANK, Reading, Row, Rows, not_again

KIND = "rocm_smi"
COMMANDS: tuple[str, ...] = ("rocm-smi",)
_HEADS = (
    r"ROCm System Management Interface|(?:Weight|Hops|Link Type|Link accessibility) between two GPUs|Numa Nodes"
    r"|PCI Bus ID|Product Info|Concise Info|Driver Version|Unique ID"
)
ANCHOR = rf"[ \t]*=+ ?(?:{_HEADS}) ?=+[ \t]*$|[ \t]*GPU\[\d{{1,3}}\][ \t]+: \S"
_VALUE = r"\s*GPU\[(?P<gpu>\d{1,3})\](?: XCP\[\d+\])?\s+: (?P<name>[^:]{1,60}?):\s+(?P<value>\S.{0,200}?)\s*$"
_NUMBER = lazy_regex(r"\d{1,4}(?:\.\d+)?")
_ROW = r"\s*GPU(?P<gpu>\d{1,3})\s+(?P<cells>(?:XGMI|PCIE|XXXX|N/A|True|False|\d{1,6})(?:\s.{0,4000})?)$"
_LOADED = (
    r"\s*(?P<gpu>\d{1,3})\s.{0,80}?\s(?P<power>\d{1,4}(?:\.\d+)?)W\s.{0,120}?\s(?P<limit>\d{1,4}(?:\.\d+)?)W"
    r"\s+(?:\d{1,3}|N/A)%?\s+(?P<load>\d{1,3})%\s*$"
)
"""``0  2  0x74a1, 28851  45.0 C  312.0W  NPS1, SPX, 0  2105Mhz  900Mhz  0%  auto  750.0W  88%  100%``."""
_OTHER = r"\s*GPU\[\d{1,3}\]|\s*(?:Device|GPU)\s+\S|\s*\(DID|\s*\d{1,3}\s+\S|WARNING: |\s*ROCM-SMI version"
_FIELDS = {
    "Card Series": "model", "Card series": "model", "Device Name": "model", "PCI Bus": "bus_id", "Unique ID": "uuid",
    "(Topology) Numa Node": "numa_node", "GPU use (%)": "load_percent",
    "Max Graphics Package Power (W)": "power_limit_watts",
    "GPU Memory Read/Write Activity (%)": "memory_activity_percent",
    "Average Graphics Package Power (W)": "power_watts", "Current Socket Graphics Package Power (W)": "power_watts",
}  # fmt: skip


class _Gpus(Reading):
    """An observation a GPU, and a link a pair."""

    def __init__(self, section: Section) -> None:
        """No table has begun."""
        super().__init__(section)
        self.gpus: dict[int, tuple[int, dict[str, Any]]] = {}
        self.pairs: dict[tuple[int, int], tuple[int, dict[str, Any]]] = {}
        self.table, self.columns = "", list[int]()

    def head(self, found: re.Match[str]) -> None:
        """What the next table is about."""
        self.table, self.columns = found["what"] or "", []

    def value(self, found: re.Match[str]) -> None:
        """A value of a GPU."""
        held = self.gpus.setdefault(int(found["gpu"]), (self.index, {}))[1]
        held |= _value(found["name"].strip(), found["value"].strip())

    def heading(self, _: re.Match[str]) -> None:
        """The GPUs of the columns."""
        self.columns = [int(number) for number in re.findall(r"GPU(\d+)", self.line)]

    def row(self, found: re.Match[str]) -> bool:
        """How a GPU is joined to each; False without columns above."""
        gpu = int(found["gpu"])
        for other, word in zip(self.columns, found["cells"].split(), strict=False):
            if other != gpu:
                self._pair(min(gpu, other), max(gpu, other), word)
        if self.columns:
            self.gpus.setdefault(gpu, (self.index, {}))
        return bool(self.columns)

    def loaded(self, found: re.Match[str]) -> None:
        """A row of the concise table."""
        held = self.gpus.setdefault(int(found["gpu"]), (self.index, {}))[1]
        held |= {"power_watts": round(float(found["power"])), "power_limit_watts": round(float(found["limit"]))}
        held["load_percent"] = int(found["load"])

    def end(self) -> None:
        """GPUs first."""
        for number, (at, fields) in self.gpus.items():
            self.observe("Gpu", (number,), at=at, **fields)
        for (a, b), (at, fields) in self.pairs.items():
            self.observe("TopoLink", (f"GPU{a}", f"GPU{b}"), at=at, **fields)

    def _pair(self, a: int, b: int, word: str) -> None:
        fields = self.pairs.setdefault((a, b), (self.index, {}))[1]
        if word in {"XGMI", "PCIE"}:
            fields |= {"link_type": word} | ({"path_type": "NVL"} if word == "XGMI" else {})
        elif self.table.startswith("Hops") and word.isdecimal():
            fields["hops"] = int(word)
        elif self.table.startswith("Link accessibility") and word in {"True", "False"}:
            fields["p2p_status"] = "OK" if word == "True" else "NS"


def _value(name: str, value: str) -> dict[str, Any]:
    field = _FIELDS.get(name)
    if field is None or value == "N/A":
        return {}
    if field == "numa_node":
        return {field: int(value)} if value.isdecimal() and len(value) < 5 else {}  # noqa: PLR2004  (-1: unknown)
    if field.endswith(("_percent", "_watts")):
        return {field: round(float(value))} if _NUMBER.fullmatch(value) else {}
    return {field: bus_id(value)} if field == "bus_id" else {field: value}


def _is_more(lines: Sequence[str], line: str) -> bool:
    """The first heading again begins another output."""
    return "Management Interface" not in line or not_again(lines, line)


ROWS = Rows(
    _Gpus,
    BLANK,
    Row(r"\s*=+ ?(?:(?P<what>[A-Z][\w ]{1,60}?) ?)?=+\s*$", _Gpus.head, belongs=_is_more),
    Row(_VALUE, _Gpus.value),
    Row(r"\s*GPU\d{1,3}(?:\s+GPU\d{1,3})*\s*$", _Gpus.heading),
    Row(_ROW, _Gpus.row),
    Row(_LOADED, _Gpus.loaded),
    Row(_OTHER),
    Row(basics.is_elision),
)
