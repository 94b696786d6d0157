"""``amd-smi``: ``list``, ``static`` and ``metric`` (blocks of a GPU by indentation) and ``topology`` (tables).

Source of the format: amdsmi, amdsmi_cli/amdsmi_commands.py and amdsmi_logger.py, and its documentation: ``GPU: 0`` with
``BDF: ...`` below it, groups in capitals; tables titled ``LINK TYPE TABLE:`` whose rows and columns are PCI addresses.
The GPUs of a table are numbered in its order, which is that of ``list``. XGMI is RCCL's NVLink: the path is NVL.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation, Parsed, observe
from ncdiag.facts.scalars import bus_id
from ncdiag.formats import basics

KIND = "amd_smi"
COMMANDS: tuple[str, ...] = ("amd-smi",)
_BDF = r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]"
ANCHOR = (
    r"GPU: \d{1,3}[ \t]*$|(?:ACCESS|WEIGHT|HOPS|LINK TYPE|NUMA BW) TABLE:[ \t]*$"
    rf"|{_BDF}[ \t]+(?:SELF|XGMI|PCIE)[ \t]+(?:SELF|XGMI|PCIE)"
)
_GPU = re.compile(r"\s*GPU: (\d{1,3})\s*$")
_VALUE = re.compile(r"(?P<indent>\s*)(?P<name>[A-Z][\w ./-]{0,60}):(?:\s(?P<value>.{0,200}))?$")
_TITLE = re.compile(r"(?P<what>[A-Z][A-Z -]{1,40}) TABLE:\s*$")
_COLUMNS = re.compile(rf"\s*{_BDF}(?:\s+{_BDF})*\s*$")
_ROW = re.compile(rf"\s*(?P<bdf>{_BDF})\s+(?P<cells>\S.{{0,4000}})$")
_LEGEND = re.compile(r"\s*Legend:|\s+[\w,/]{1,12}(?: / [A-Z]{1,12})?\s*=\s")
_READ: dict[tuple[str, ...], str] = {
    ("BDF",): "bus_id", ("BUS", "BDF"): "bus_id", ("UUID",): "uuid", ("ASIC", "MARKET_NAME"): "model",
    ("NUMA", "NODE"): "numa_node", ("BUS", "MAX_PCIE_WIDTH"): "pcie_width_max", ("PCIE", "WIDTH"): "pcie_width",
}  # fmt: skip
"""The last groups of a path, and the field."""


def continues(lines: Sequence[str], line: str) -> bool:
    """Blocks, tables, their legend and blank lines; the first GPU again is another output."""
    if line == lines[0] and _GPU.match(line):
        return False
    known = any(pattern.match(line) for pattern in (_TITLE, _COLUMNS, _ROW, _LEGEND))
    inside = _GPU.match(line) or (line[:1].isspace() and _VALUE.match(line))
    return not line.strip() or known or bool(inside) or basics.is_elision(line)


def parse(section: Section) -> Parsed:
    """An observation a GPU, and a link a pair."""
    reader = _Reader(section)
    unread = [i for i, line in enumerate(section.lines) if line.strip() and not reader.take(i, line)]
    return Parsed(observations=tuple(reader.observations()), unread=tuple(unread))


class _Reader:
    """The GPUs by number and the pairs of the tables."""

    def __init__(self, section: Section) -> None:
        self._section = section
        self._gpus: dict[int, tuple[int, dict[str, Any]]] = {}
        self._pairs: dict[tuple[int, int], tuple[int, dict[str, Any]]] = {}
        self._here: dict[str, Any] | None = None
        self._groups: list[tuple[int, str]] = []
        self._table, self._columns = "", list[str]()

    def take(self, index: int, line: str) -> bool:
        """Read a line; False when it is none of the output."""
        gpu, title, row = _GPU.match(line), _TITLE.match(line), _ROW.match(line)
        if gpu:
            self._here, self._groups = self._gpus.setdefault(int(gpu[1]), (index, {}))[1], []
        elif title:
            self._table, self._columns, self._here = title["what"], [], None
        elif _COLUMNS.match(line):
            self._columns = line.split()
            for number, address in enumerate(self._columns):
                self._gpus.setdefault(number, (index, {}))[1].setdefault("bus_id", bus_id(address))
        elif row and self._columns:
            self._row(index, row["bdf"], row["cells"].split())
        elif self._here is not None and (value := _VALUE.match(line)):
            self._value(value)
        else:
            return bool(_LEGEND.match(line)) or basics.is_elision(line)
        return True

    def _value(self, found: re.Match[str]) -> None:
        indent, name, value = len(found["indent"]), found["name"].strip(), (found["value"] or "").strip()
        while self._groups and self._groups[-1][0] >= indent:
            self._groups.pop()
        path = (*(group for _, group in self._groups), name)
        if not value:
            self._groups.append((indent, name))
        field = _READ.get(path) if value not in {"", "N/A"} else None
        if field is None or self._here is None:
            return
        if field in {"numa_node", "pcie_width", "pcie_width_max"}:
            number = basics.number(value.split()[0])
            if number is not None and number >= 0:
                self._here.setdefault(field, number)
        else:
            self._here.setdefault(field, bus_id(value) if field == "bus_id" else value)

    def _row(self, index: int, address: str, cells: list[str]) -> None:
        if address not in self._columns:
            return
        gpu = self._columns.index(address)
        for other, word in enumerate(cells[: len(self._columns)]):
            if other == gpu:
                continue
            fields = self._pairs.setdefault((min(gpu, other), max(gpu, other)), (index, {}))[1]
            if self._table == "LINK TYPE" and word in {"XGMI", "PCIE"}:
                fields["link_type"] = word
                fields |= {"path_type": "NVL"} if word == "XGMI" else {}
            elif self._table == "HOPS" and word.isdecimal():
                fields["hops"] = int(word)
            elif self._table == "ACCESS" and word in {"ENABLED", "DISABLED"}:
                fields["p2p_status"] = "OK" if word == "ENABLED" else "NS"

    def observations(self) -> list[Observation]:
        """GPUs first."""
        gpus = [observe(self._section, at, "Gpu", (n,), **fields) for n, (at, fields) in self._gpus.items()]
        links = [
            observe(self._section, at, "TopoLink", (f"GPU{a}", f"GPU{b}"), **fields)
            for (a, b), (at, fields) in self._pairs.items()
        ]
        return gpus + links
