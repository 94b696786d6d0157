"""``amd-smi``: ``list``, ``static`` and ``metric`` (blocks of a GPU by indentation), ``topology``, ``monitor``.

Source of the format: amdsmi, amdsmi_cli/amdsmi_commands.py and amdsmi_logger.py, and its documentation: ``GPU: 0`` with
``BDF: ...`` below it, groups in capitals; tables titled ``LINK TYPE TABLE:`` whose rows and columns are PCI addresses.
The GPUs of a table are numbered in its order, which is that of ``list``. XGMI is RCCL's NVLink: the path is NVL. The
columns of ``monitor`` are GFX_UTIL, MEM_UTIL and VRAM_USED up to ROCm 6.3 and GFX%, MEM% and VRAM_USAGE since; since
ROCm 7, amd-smi alone prints two lines for each GPU.
"""

from __future__ import annotations

import re
from typing import Any

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.facts.scalars import bus_id
from ncdiag.formats import basics
from ncdiag.parsers._rows import BLANK, Reading, Row, Rows, not_again

KIND = "amd_smi"
COMMANDS: tuple[str, ...] = ("amd-smi",)
_BDF = r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]"
ANCHOR = (
    r"GPU: \d{1,3}[ \t]*$|(?:ACCESS|WEIGHT|HOPS|LINK TYPE|NUMA BW) TABLE:[ \t]*$"
    rf"|{_BDF}[ \t]+(?:SELF|XGMI|PCIE)[ \t]+(?:SELF|XGMI|PCIE)"
    r"|[ \t]*(?:TIMESTAMP[ \t]+)?GPU[ \t]+(?:XCP[ \t]+)?POWER[ \t]|\| AMD-SMI \d"
)
_USED = "memory_used_mib"
_COLUMNS = {
    "POWER": "power_watts", "PWR_CAP": "power_limit_watts", "GFX_UTIL": "load_percent", "GFX%": "load_percent",
    "MEM_UTIL": "memory_activity_percent", "MEM%": "memory_activity_percent", "VRAM_USED": _USED, "VRAM_USAGE": _USED,
}  # fmt: skip
_CELL = lazy_regex(
    r"N/A|(?P<number>-?\d+(?:\.\d+)?)(?:/\d+(?:\.\d+)?)? ?(?P<unit>[A-Z]?i?B|W|%|\S?C|MHz|Mb/s)?(?=\s|$)"
)
_MIB = {"GB": 1024, "MB": 1}
_FIRST = (
    rf"\|\s*(?P<bdf>{_BDF})\s+(?P<name>\S.{{0,60}}?)\s*\|\s*(?P<memory>\d{{1,3}}|N/A) ?%?\s.{{0,40}}?"
    r"\s(?P<power>\d{1,4})/(?P<limit>\d{1,4}) W\s*\|"
)
_SECOND = r"\|\s*(?P<gpu>\d{1,3})\s+\S.{0,60}?\|\s*(?P<load>\d{1,3}) %\s.{0,40}?\s(?P<used>\d{1,7})/\d{1,7} MB\s*\|"
_ROW = rf"\s*(?P<bdf>{_BDF})\s+(?P<cells>\S.{{0,4000}})$"
_VALUE = r"(?P<indent>\s*)(?P<name>[A-Z][\w ./-]{0,60}):(?:\s(?P<value>.{0,200}))?$"
_READ: dict[tuple[str, ...], str] = {
    ("BDF",): "bus_id", ("BUS", "BDF"): "bus_id", ("UUID",): "uuid", ("ASIC", "MARKET_NAME"): "model",
    ("NUMA", "NODE"): "numa_node", ("BUS", "MAX_PCIE_WIDTH"): "pcie_width_max", ("PCIE", "WIDTH"): "pcie_width",
}  # fmt: skip
"""The last groups of a path, and the field."""


class _Gpus(Reading):
    """The GPUs by number and the pairs of the tables: an observation a GPU, and a link a pair."""

    def __init__(self, section: Section) -> None:
        """No GPU and no table has begun."""
        super().__init__(section)
        self.gpus: dict[int, tuple[int, dict[str, Any]]] = {}
        self.pairs: dict[tuple[int, int], tuple[int, dict[str, Any]]] = {}
        self.here: dict[str, Any] | None = None
        self.groups: list[tuple[int, str]] = []
        self.table, self.columns = "", list[str]()
        self.above: tuple[int, dict[str, Any]] | None = None

    def monitored(self, _: re.Match[str]) -> bool:
        """A row of `monitor`, below its columns: the last one of a GPU counts, as the command repeats them."""
        cells = list(_CELL.finditer(self.line))
        if "POWER" not in self.columns or len(cells) != len(self.columns):
            return False
        row = dict(zip(self.columns, cells, strict=True))
        fields = {
            field: round(float(row[name]["number"]) * (_MIB.get(row[name]["unit"], 1) if field == _USED else 1))
            for name, field in _COLUMNS.items()
            if name in row and row[name]["number"]
        }
        number = basics.number(row["GPU"]["number"] or "")
        if number is not None and row.get("XCP", row["GPU"])["number"] in {row["GPU"]["number"], "0"}:
            self.gpus[number] = self.index, dict(fields)
        return True

    def monitor(self, _: re.Match[str]) -> None:
        """The columns of `monitor`."""
        self.columns = self.line.split()

    def first(self, found: re.Match[str]) -> None:
        """The first line of a GPU of the summary."""
        fields: dict[str, Any] = {"bus_id": bus_id(found["bdf"]), "model": found["name"]}
        fields |= {"power_watts": int(found["power"]), "power_limit_watts": int(found["limit"])}
        if found["memory"] != "N/A":
            fields["memory_activity_percent"] = int(found["memory"])
        self.above = self.index, fields

    def second(self, found: re.Match[str]) -> bool:
        """The second line of a GPU of the summary."""
        if self.above is None:
            return False
        (at, fields), self.above = self.above, None
        loads = {"load_percent": int(found["load"]), _USED: int(found["used"])}
        self.gpus[int(found["gpu"])] = at, fields | loads
        return True

    def gpu(self, found: re.Match[str]) -> None:
        """The block of a GPU begins."""
        self.here, self.groups = self.gpus.setdefault(int(found[1]), (self.index, {}))[1], []

    def title(self, found: re.Match[str]) -> None:
        """A table begins."""
        self.table, self.columns, self.here = found["what"], [], None

    def head(self, _: re.Match[str]) -> None:
        """The GPUs of its columns."""
        self.columns = self.line.split()
        for number, address in enumerate(self.columns):
            self.gpus.setdefault(number, (self.index, {}))[1].setdefault("bus_id", bus_id(address))

    def row(self, found: re.Match[str]) -> bool:
        """A row of the table, below its columns."""
        gpu = self.columns.index(found["bdf"]) if found["bdf"] in self.columns else None
        for other, word in enumerate(found["cells"].split()[: len(self.columns)]):
            if gpu is not None and other != gpu:
                self._pair(gpu, other, word)
        return bool(self.columns)

    def _pair(self, gpu: int, other: int, word: str) -> None:
        fields = self.pairs.setdefault((min(gpu, other), max(gpu, other)), (self.index, {}))[1]
        if self.table == "LINK TYPE" and word in {"XGMI", "PCIE"}:
            fields["link_type"] = word
            fields |= {"path_type": "NVL"} if word == "XGMI" else {}
        elif self.table == "HOPS" and word.isdecimal():
            fields["hops"] = int(word)
        elif self.table == "ACCESS" and word in {"ENABLED", "DISABLED"}:
            fields["p2p_status"] = "OK" if word == "ENABLED" else "NS"

    def value(self, found: re.Match[str]) -> bool:
        """A value of the GPU above, or a group of values."""
        if self.here is None:
            return False
        indent, name, value = len(found["indent"]), found["name"].strip(), (found["value"] or "").strip()
        while self.groups and self.groups[-1][0] >= indent:
            self.groups.pop()
        path = (*(group for _, group in self.groups), name)
        if not value:
            self.groups.append((indent, name))
        field = _READ.get(path) if value not in {"", "N/A"} else None
        if field in {"numa_node", "pcie_width", "pcie_width_max"}:
            number = basics.number(value.split()[0])
            if number is not None and number >= 0:
                self.here.setdefault(field, number)
        elif field:
            self.here.setdefault(field, bus_id(value) if field == "bus_id" else value)
        return True

    def end(self) -> None:
        """GPUs first."""
        for gpu, (at, fields) in self.gpus.items():
            self.observe("Gpu", (gpu,), at=at, **fields)
        for (a, b), (at, fields) in self.pairs.items():
            self.observe("TopoLink", (f"GPU{a}", f"GPU{b}"), at=at, **fields)


ROWS = Rows(
    _Gpus,
    Row(r"\s*GPU: (\d{1,3})\s*$", _Gpus.gpu, belongs=not_again),
    Row(r"[ \t]*(?:TIMESTAMP[ \t]+)?GPU[ \t]+(?:XCP[ \t]+)?POWER[ \t]", _Gpus.monitor),
    Row(r"\s*\d{1,10}\s+\S", _Gpus.monitored),
    Row(_FIRST, _Gpus.first),
    Row(_SECOND, _Gpus.second),
    Row(r"[|+]"),
    Row(r"(?P<what>[A-Z][A-Z -]{1,40}) TABLE:\s*$", _Gpus.title),
    Row(rf"\s*{_BDF}(?:\s+{_BDF})*\s*$", _Gpus.head),
    Row(_ROW, _Gpus.row),
    Row(r"\s*Legend:|\s+[\w,/]{1,12}(?: / [A-Z]{1,12})?\s*=\s"),
    Row(_VALUE, _Gpus.value, belongs=lambda _, line: line[:1].isspace()),
    Row(basics.is_elision),
    BLANK,
)
