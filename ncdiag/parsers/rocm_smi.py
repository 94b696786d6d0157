"""``rocm-smi``: AMD GPUs with their PCI addresses and NUMA nodes, and ``--showtopo``: how they are joined.

Source of the format: rocm_smi_lib, python_smi_tools/rocm_smi.py (printLog: ``GPU[0]``, two tabs, ``: name: value``;
printLogSpacer; showWeightTopology, showHopsTopology, showTypeTopology with 12 columns a cell; showNumaTopology).
XGMI is RCCL's NVLink, so that the path is NVL.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation, Parsed, observe
from ncdiag.facts.scalars import bus_id
from ncdiag.formats import basics

KIND = "rocm_smi"
COMMANDS: tuple[str, ...] = ("rocm-smi",)
_HEADS = (
    r"ROCm System Management Interface|(?:Weight|Hops|Link Type|Link accessibility) between two GPUs|Numa Nodes"
    r"|PCI Bus ID|Product Info|Concise Info|Driver Version|Unique ID"
)
ANCHOR = rf"[ \t]*=+ ?(?:{_HEADS}) ?=+[ \t]*$|[ \t]*GPU\[\d{{1,3}}\][ \t]+: \S"
_HEAD = re.compile(r"\s*=+ ?(?:(?P<what>[A-Z][\w ]{1,60}?) ?)?=+\s*$")
_VALUE = re.compile(
    r"\s*GPU\[(?P<gpu>\d{1,3})\](?: XCP\[\d+\])?\s+: (?P<name>[^:]{1,60}?):\s+(?P<value>\S.{0,200}?)\s*$"
)
_COLUMNS = re.compile(r"\s*GPU\d{1,3}(?:\s+GPU\d{1,3})*\s*$")
_ROW = re.compile(r"\s*GPU(?P<gpu>\d{1,3})\s+(?P<cells>(?:XGMI|PCIE|XXXX|N/A|True|False|\d{1,6})(?:\s.{0,4000})?)$")
_OTHER = re.compile(r"\s*GPU\[\d{1,3}\]|\s*(?:Device|GPU)\s+\S|\s*\(DID|\s*\d{1,3}\s+\S|WARNING: |\s*ROCM-SMI version")
_FIELDS = {
    "Card Series": "model", "Card series": "model", "Device Name": "model", "PCI Bus": "bus_id", "Unique ID": "uuid",
    "(Topology) Numa Node": "numa_node",
}  # fmt: skip


def continues(lines: Sequence[str], line: str) -> bool:
    """Headings, values, matrices, the concise table and blank lines; the first heading again is another output."""
    if line == lines[0] and "Management Interface" in line:
        return False
    known = any(pattern.match(line) for pattern in (_HEAD, _VALUE, _COLUMNS, _ROW, _OTHER))
    return not line.strip() or known or basics.is_elision(line)


def parse(section: Section) -> Parsed:
    """An observation a GPU, and a link a pair."""
    gpus: dict[int, tuple[int, dict[str, Any]]] = {}
    pairs: dict[tuple[int, int], tuple[int, dict[str, Any]]] = {}
    unread: list[int] = []
    table, columns = "", list[int]()
    for index, line in enumerate(section.lines):
        head, value, row = _HEAD.match(line), _VALUE.match(line), _ROW.match(line)
        if head:
            table, columns = head["what"] or "", []
        elif value:
            held = gpus.setdefault(int(value["gpu"]), (index, {}))[1]
            held |= _value(value["name"].strip(), value["value"].strip())
        elif _COLUMNS.match(line):
            columns = [int(number) for number in re.findall(r"GPU(\d+)", line)]
        elif row and columns:
            _take(pairs, index, int(row["gpu"]), columns, row["cells"].split(), table)
            gpus.setdefault(int(row["gpu"]), (index, {}))
        elif line.strip() and not _OTHER.match(line) and not basics.is_elision(line):
            unread.append(index)
    found: list[Observation] = [observe(section, at, "Gpu", (n,), **fields) for n, (at, fields) in gpus.items()]
    found += [
        observe(section, at, "TopoLink", (f"GPU{a}", f"GPU{b}"), **fields) for (a, b), (at, fields) in pairs.items()
    ]
    return Parsed(observations=tuple(found), unread=tuple(unread))


def _value(name: str, value: str) -> dict[str, Any]:
    field = _FIELDS.get(name)
    if field is None or value == "N/A":
        return {}
    if field == "numa_node":
        return {field: int(value)} if value.isdecimal() and len(value) < 5 else {}  # noqa: PLR2004  (-1: unknown)
    return {field: bus_id(value)} if field == "bus_id" else {field: value}


def _take(  # noqa: PLR0913, PLR0917  (a row and what stands above it)
    pairs: dict[tuple[int, int], tuple[int, dict[str, Any]]], index: int, gpu: int, columns: list[int],
    cells: list[str], table: str,
) -> None:  # fmt: skip
    for other, word in zip(columns, cells, strict=False):
        if other == gpu:
            continue
        fields = pairs.setdefault((min(gpu, other), max(gpu, other)), (index, {}))[1]
        if word in {"XGMI", "PCIE"}:
            fields["link_type"] = word
            fields |= {"path_type": "NVL"} if word == "XGMI" else {}
        elif table.startswith("Hops") and word.isdecimal():
            fields["hops"] = int(word)
        elif table.startswith("Link accessibility") and word in {"True", "False"}:
            fields["p2p_status"] = "OK" if word == "True" else "NS"
