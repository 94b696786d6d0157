"""``nvidia-smi topo -m`` and ``-mp``: distances between GPUs and NICs, CPU and NUMA affinity, NIC legend.

Source of the format: nvidia-smi (CUDA driver package, seen from release 384 to 570). Cells are divided by tabs, which
pastes often turn into blanks; HCAs are under their own names in old releases and as NIC0, NIC1 ... with a legend in
new ones. A hidden CPU mask leaves an empty cell between two tabs. ``-mp`` leaves NVLink out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation, Parsed, observe
from ncdiag.formats.basics import is_elision
from ncdiag.formats.matrix import GLUED_HEAD, Row, Table, read_table, table_line

KIND = "topo_m"
COMMANDS: tuple[str, ...] = ("nvidia-smi topo -m", "nvidia-smi topo -mp", "nvidia-smi topo --matrix")
_CELL = r"(?:X|NV\d{1,2}|PIX|PXB|PHB|NODE|SYS|SOC)"
ANCHOR = (
    r"(?:GPU|NVIDIA) Topology:[ \t]*$"
    rf"|\s{{0,40}}(?:\x1b?\[\d{{1,2}}m)?GPU\d+[ \t].{{0,4000}}CPU Affinity|{GLUED_HEAD}.{{0,4000}}CPU Affinity"
    rf"|\s{{0,40}}GPU\d+[ \t]+{_CELL}[ \t]+{_CELL}(?:[ \t]|$)"
    r"|\s{0,8}\|[ \t]*(?:\|[ \t]*)?GPU0[ \t]*\|[ \t]*(?:GPU|NIC|CPU|mlx)"
)

_ROW = lazy_regex(rf"\s*(?P<label>[A-Za-z][\w.:-]{{0,40}})(?P<cells>[ \t]+{_CELL}(?:[ \t].*)?)$")
_CELLS = lazy_regex(rf"{_CELL}$")
_LEGEND = lazy_regex(r"\s*(?:(?:NIC )?Legend:\s*$|(?:X|SYS|NODE|PHB|PXB|PIX|SOC|NV#|NV\d{1,2})\s+= )")
_NIC = lazy_regex(r"\s*(?P<label>NIC\d{1,3})\s*:\s*(?P<hca>[A-Za-z][\w.-]{0,40})\s*$")
_NIC_ROW = lazy_regex(rf"\s*NIC\d{{1,3}}[ \t]+{_CELL}[ \t]")
_GPU = lazy_regex(r"GPU(\d{1,4})$")
_HEADING = lazy_regex(r"\s*(?:GPU|NVIDIA) Topology:\s*$|\s*\|[|: -]{3,4000}$")
"""A title, or the rule below the header of a table in Markdown."""


def continues(lines: Sequence[str], line: str) -> bool:
    """Blank lines, one header, rows (also wrapped ones) and the two legends belong to the matrix."""
    if not line.strip() or is_elision(line) or any(p.match(line) for p in (_LEGEND, _NIC, _HEADING)):
        return True
    return table_line(lines, line, _ROW, _CELLS)


def parse(section: Section) -> Parsed:
    """GPUs with their affinities, a link for each pair with a GPU, the labels of the NICs."""
    table = read_table(section.lines, _ROW, _CELLS, ("CPU Affinity", "NUMA Affinity"))
    table.labels = _numbered(table, section.lines)
    unread = [i for i in table.others if not _known(section.lines[i])]
    legend = {m["label"]: (m["hca"], i) for i in table.others if (m := _NIC.match(section.lines[i]))}
    found = [*_gpus(section, table), *_nics(section, table, legend), *_links(section, table)]
    gpu_labels = {label for label in table.labels if _GPU.match(label)}
    whole = all(len(row.cells) >= len(table.labels) for row in table.rows)
    complete = (
        bool(gpu_labels) and table.header is not None and whole and gpu_labels <= {row.label for row in table.rows}
    )
    return Parsed(observations=tuple(found), unread=tuple(unread), complete=complete)


def _numbered(table: Table, lines: Sequence[str]) -> list[str]:
    """The labels, the columns behind the GPUs as NIC0, NIC1 ... where the header is missing and no GPU can be there."""
    gpus = [row for row in table.rows if _GPU.match(row.label)]
    first, rest = table.labels[: len(gpus)], table.labels[len(gpus) :]
    in_order = first == [row.label for row in gpus] == [f"GPU{index}" for index in range(len(gpus))]
    if table.header is not None or len(gpus) == 1 or not in_order:
        return table.labels
    meshed = all(cell.startswith(("NV", "X")) for row in gpus for cell in row.cells[: len(gpus)])
    linked = any(cell.startswith("NV") for row in gpus for cell in row.cells[len(gpus) :])
    if (meshed and not linked) or any(_LEGEND.match(line) or _NIC_ROW.match(line) for line in lines):
        return [*first, *(label or f"NIC{column}" for column, label in enumerate(rest))]
    return table.labels


def _known(line: str) -> bool:
    return not line.strip() or bool(_LEGEND.match(line) or _NIC.match(line) or _HEADING.match(line) or is_elision(line))


def _gpus(section: Section, table: Table) -> Iterator[Observation]:
    rows = {row.label: row for row in table.rows}
    for label in table.labels:
        index = _GPU.match(label)
        if index is None:
            continue
        row = rows.get(label)
        if row is None:
            yield observe(section, table.header or 0, "Gpu", (int(index[1]),))
            continue
        cpus, numa = row.extras.get("CPU Affinity"), row.extras.get("NUMA Affinity")
        node = int(numa) if numa and re.fullmatch(r"\d{1,4}", numa) else None
        yield observe(
            section, row.line, "Gpu", (int(index[1]),), cpu_affinity=cpus, numa_affinity=numa, numa_node=node,
        )  # fmt: skip


def _nics(section: Section, table: Table, legend: dict[str, tuple[str, int]]) -> Iterator[Observation]:
    """Labels of the NICs in the order of their columns, each with its HCA, None where nothing tells it.

    A header without any says that there are none.
    """
    labels: dict[str, str | None] = {}
    for label in table.labels:
        if label and not _GPU.match(label):
            labels[label] = legend[label][0] if label in legend else None if re.match(r"NIC\d+$", label) else label
    if labels or table.header is not None:
        yield observe(
            section, table.header if table.header is not None else table.rows[0].line, "Host", nic_labels=labels
        )


def _links(section: Section, table: Table) -> Iterator[Observation]:
    """Each pair once. No NV# for a pair is "no NVLink" only where the output shows NVLink at all (not ``-mp``)."""
    shows_nvlink = any(cell.startswith("NV") for row in table.rows for cell in row.cells)
    seen: set[tuple[str, str]] = set()
    for row, other, cell in _pairs(table):
        gpus = bool(_GPU.match(row.label)), bool(_GPU.match(other))
        if not any(gpus):
            continue
        a, b = sorted((row.label, other), key=table.labels.index)
        if (a, b) in seen:
            continue
        seen.add((a, b))
        count = int(cell[2:]) if cell.startswith("NV") else 0 if all(gpus) and shows_nvlink else None
        yield observe(section, row.line, "TopoLink", (a, b), level=cell, nvlink_count=count)


def _pairs(table: Table) -> Iterator[tuple[Row, str, str]]:
    for row in table.rows:
        for label, cell in zip(table.labels, row.cells, strict=False):
            if label and label != row.label and cell != "X":
                yield row, label, cell
