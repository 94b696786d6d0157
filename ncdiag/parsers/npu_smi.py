"""``npu-smi info``: Ascend NPUs with health and PCI address; ``-t topo``: how they are joined; ``-t board``.

Format: npu-smi of Huawei's driver packages, as its documentation shows it: a box with two rows for each chip
(``| 0     910B3 | OK | ...`` and ``| 0 | 0000:C1:00.0 | ...``), a matrix of NPU0, NPU1 ... with HCCS, PIX, PHB, SYS and
the like, and lists of ``name : value`` below ``NPU ID``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation, Parsed, observe
from ncdiag.facts.scalars import bus_id
from ncdiag.formats import basics

KIND = "npu_smi"
COMMANDS: tuple[str, ...] = ("npu-smi",)
_CELL = r"(?:X|HCCS(?:_SW)?|SIO|PIX|PIXB|PXB|PHB|NODE|SYS|NA|HCCS\d|UB)"
ANCHOR = (
    r"\| npu-smi \S+[ \t]+Version: |[ \t]*NPU0[ \t]+NPU1[ \t]|[ \t]*NPU\d{1,2}[ \t]+" + _CELL + r"[ \t]"
    r"|[ \t]*NPU ID[ \t]+: \d{1,3}[ \t]*$"
)
_CHIP = re.compile(
    r"\|\s*(?P<npu>\d{1,3})\s+(?P<model>[A-Za-z0-9][\w-]{1,30})\s*\|\s*(?P<health>OK|Warning|Alarm|Critical|UNKNOWN|\S{1,16})\s*\|"
)
_BUS = re.compile(
    r"\|\s*\d{1,3}\s+(?:\d{1,3}\s+)?\|\s*(?P<bus>[0-9A-Fa-f]{4}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7])\s*\|"
)
_BOX = re.compile(r"\s*[|+]")
_COLUMNS = re.compile(r"\s*NPU\d{1,2}(?:\s+(?:NPU|NIC)\w{1,3})*(?:\s+CPU Affinity)?\s*$")
_ROW = re.compile(rf"\s*NPU(?P<npu>\d{{1,2}})\s+(?P<cells>{_CELL}(?:\s.{{0,4000}})?)$")
_WORD = re.compile(rf"{_CELL}$")
_VALUE = re.compile(r"\s*(?P<name>[A-Z][\w ()%./-]{1,50}?)\s+: (?P<value>\S.{0,100}?)\s*$")
_LEGEND = re.compile(r"\s*(?:Legend:|\w{1,8}\s+= )")
_FIELDS = {"Health Status": "health", "Health": "health", "Chip Name": "model", "PCIe Bus Info": "bus_id"}
_NEAR = {"PIX": "PIX", "PIXB": "PXB", "PXB": "PXB", "PHB": "PHB", "NODE": "NODE", "SYS": "SYS"}


def continues(lines: Sequence[str], line: str) -> bool:
    """The box, the matrix with its legend, values, blank lines; the first line again is another output."""
    if line == lines[0] and "npu-smi" in line:
        return False
    return not line.strip() or any(p.match(line) for p in (_BOX, _COLUMNS, _ROW, _VALUE, _LEGEND))


def parse(section: Section) -> Parsed:
    """An observation an NPU, and a link a pair."""
    npus: dict[int, tuple[int, dict[str, Any]]] = {}
    links: dict[tuple[int, int], tuple[int, str]] = {}
    unread: list[int] = []
    asked = re.search(r"\s-i\s+(\d{1,3})\b", section.command or "")
    npu = int(asked[1]) if asked else None
    for index, line in enumerate(section.lines):
        chip, bus, row, value = _CHIP.match(line), _BUS.match(line), _ROW.match(line), _VALUE.match(line)
        if chip and not bus:
            npu = int(chip["npu"])
            npus.setdefault(npu, (index, {}))[1].update(model=chip["model"], health=chip["health"])
        elif bus and npu is not None:
            npus.setdefault(npu, (index, {}))[1].setdefault("bus_id", bus_id(bus["bus"]))
        elif row:
            _row(npus, links, index, int(row["npu"]), row["cells"].split())
        elif value and value["name"] == "NPU ID":
            npu = basics.number(value["value"])
        elif value and npu is not None and value["name"] in _FIELDS:
            field = _FIELDS[value["name"]]
            told = bus_id(value["value"]) if field == "bus_id" else value["value"]
            npus.setdefault(npu, (index, {}))[1].setdefault(field, told)
        elif line.strip() and not any(p.match(line) for p in (_BOX, _COLUMNS, _VALUE, _LEGEND)):
            unread.append(index)
    found: list[Observation] = [observe(section, at, "Npu", (n,), **fields) for n, (at, fields) in npus.items()]
    found += [
        observe(section, at, "TopoLink", (f"NPU{a}", f"NPU{b}"), link_type=word, level=_NEAR.get(word))
        for (a, b), (at, word) in links.items()
    ]
    return Parsed(observations=tuple(found), unread=tuple(unread))


def _row(
    npus: dict[int, tuple[int, dict[str, Any]]], links: dict[tuple[int, int], tuple[int, str]], index: int, npu: int,
    cells: list[str],
) -> None:  # fmt: skip
    words = [word for word in cells if _WORD.match(word)]
    affinity = cells[len(words)] if len(cells) > len(words) else None
    held = npus.setdefault(npu, (index, {}))[1]
    if affinity and re.fullmatch(r"[\d,-]{1,200}", affinity):
        held["cpu_affinity"] = affinity
    for other, word in enumerate(words):
        if other != npu and word not in {"X", "NA"}:
            links.setdefault((min(npu, other), max(npu, other)), (index, word))
