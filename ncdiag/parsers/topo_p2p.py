"""``nvidia-smi topo -p2p r|w|n|a|p``: which pairs of GPUs can read, write, use NVLink or atomics with each other.

Source of the format: nvidia-smi (CUDA driver package); the legend names OK, CNS (chipset), GNS (GPU), TNS (topology),
NS (not supported), U (unknown); DR, which only newer legends name, is a pair that a registry key of the driver disabled
(NVML nvmlGpuP2PStatus, NVML_P2P_STATUS_DISABLED_BY_REGKEY).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.facts.observe import Parsed, observe
from ncdiag.formats.basics import is_elision
from ncdiag.formats.matrix import Table, read_table, table_line

KIND = "topo_p2p"
COMMANDS: tuple[str, ...] = ("nvidia-smi topo -p2p", "nvidia-smi topo --p2p_topology")
_CELL = r"(?:X|OK|CNS|GNS|TNS|NS|DR|U)"
ANCHOR = (
    r"\s{0,40}GPU0[ \t]*GPU\d+[ \t]*$|\s{0,40}GPU0[ \t]*GPU1[ \t]*GPU\d+[ \tGPU\d]{0,4000}$"
    rf"|\s{{0,40}}GPU\d+[ \t]+{_CELL}[ \t]+{_CELL}(?:[ \t]|$)"
)

_ROW = lazy_regex(rf"\s*(?P<label>GPU\d{{1,4}})(?P<cells>[ \t]+{_CELL}(?:[ \t].*)?)$")
_CELLS = lazy_regex(rf"{_CELL}$")
_LEGEND = lazy_regex(r"\s*(?:Legend:\s*$|(?:X|OK|CNS|GNS|TNS|NS|DR|U)\s+= )")
_CAPABILITY = lazy_regex(r"-(?:p2p|-p2p_topology)[ =]([rwnap])\b")
_FIELDS = {"r": "p2p_read", "w": "p2p_write", "n": "p2p_nvlink", "a": "p2p_atomics", "p": "p2p_proprietary"}


def continues(lines: Sequence[str], line: str) -> bool:
    """Blank lines, one header, rows and the legend belong to the matrix."""
    if not line.strip() or _LEGEND.match(line) or is_elision(line):
        return True
    return table_line(lines, line, _ROW, _CELLS)


def parse(section: Section) -> Parsed:
    """A link for each pair, with its status under the field of the capability (``p2p_status`` where none was named)."""
    table = read_table(section.lines, _ROW, _CELLS, ())
    asked = _CAPABILITY.search(section.command or "")
    field = _FIELDS[asked[1]] if asked else "p2p_status"
    numbers = [int(label[3:]) for label in table.labels if label[3:].isdecimal()]
    found = [observe(section, table.header or 0, "Gpu", (number,)) for number in numbers]
    for pair, (line, status) in _pairs(table).items():
        fields: dict[str, Any] = {field: status}
        found.append(observe(section, line, "TopoLink", pair, **fields))
    unread = [i for i in table.others if section.lines[i].strip() and not _LEGEND.match(section.lines[i])]
    return Parsed(observations=tuple(found), unread=tuple(unread))


def _pairs(table: Table) -> dict[tuple[str, str], tuple[int, str]]:
    """Each pair once; where the two directions differ, the one that is not OK counts."""
    found: dict[tuple[str, str], tuple[int, str]] = {}
    for row in table.rows:
        for label, cell in zip(table.labels, row.cells, strict=False):
            if not label or label == row.label or cell == "X":
                continue
            a, b = sorted((row.label, label), key=table.labels.index)
            if (a, b) not in found or found[a, b][1] == "OK":
                found[a, b] = row.line, cell
    return found
