"""Training throughput by number of GPUs: tables that people make, and the last line of Horovod's synthetic benchmarks.

A table is known by its head: a column that counts GPUs and one that names a rate (``samples/s``, ``images/sec``,
``throughput``), between bars, tabs, commas or two blanks; sentences about GPUs are none. Columns that tell the same
otherwise (speedup, efficiency) are left out, all others (batch size, precision) say which rows belong together.
Source of the Horovod line: horovod examples/pytorch/pytorch_synthetic_benchmark.py.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ncdiag.facts.observe import Observation, Parsed, observe
from ncdiag.formats import basics
from ncdiag.parsers import _program
from ncdiag.spans import Section

KIND = "throughput"
COMMANDS: tuple[str, ...] = ()
_EDGE = r"(?:[|,\t]|  )[ ]{0,60}"
_COUNT = (
    r"(?:#|n|no\.? of |number of |num)?[ _]?(?:gpus?|devices|ranks|world[ _]size)"
    r"(?:[ _](?:num|count|per[ _]node|num[ _]per[ _]node))?"
)
_RATE = (
    r"[\w<>() -]{0,40}(?:(?:samples|images|imgs?|tokens|sentences|sequences|seqs|examples|words)[ ]?(?:/|per)[ ]?"
    r"s(?:ec(?:ond)?)?|throughput)(?:[ ]?\([^()|]{0,30}\))?"
)
_HOROVOD = (
    r"(?:\[1,\d{1,6}\]<std(?:out|err)>:[ ]?)?"
    r"Total [a-z]{1,20}/sec on \d{1,6} \w{1,10}\(s\): [\d.]{1,20}"
)
_CELLS = tuple(rf"(?=(?:.{{0,300}}?{_EDGE})?(?i:{name})[ ]{{0,60}}(?:[|,\t]|  |[ ]?$))" for name in (_COUNT, _RATE))
ANCHOR = f"(?:{''.join(_CELLS)}|{_HOROVOD})"

_IS_HOROVOD = re.compile(rf"(?=.*Total (?P<unit>\S+) on (?P<gpus>\d+) \S+ (?P<rate>\d+(?:\.\d+)?)){_HOROVOD}")
_IS_RULE = re.compile(r"[-|:+= \t]+$")
_GPUS = re.compile(rf"{_COUNT}$", re.IGNORECASE)
_NODES = re.compile(r"(?:#|n|number of |num)?[ _]?(?:nodes?|hosts?)(?:[ _](?:num|count))?$", re.IGNORECASE)
_IS_RATE = re.compile(rf"{_RATE}$", re.IGNORECASE)
_SAID_TWICE = re.compile(r"speed[ _-]?up|(?:scaling|efficiency|scaling[ _]efficiency)(?:[ ]?\(?%\)?)?$", re.IGNORECASE)
_NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?$|\d{1,15}(?:\.\d{1,10})?$")


def continues(lines: Sequence[str], line: str) -> bool:
    """Rows of the table that the first line heads; further lines of Horovod."""
    if _IS_HOROVOD.match(lines[0]):
        return _IS_HOROVOD.match(line) is not None
    if _IS_RULE.match(line) and line.strip():
        return True
    cells = _split(line, lines[0])
    return len(cells) > 1 and len(cells) <= len(_split(lines[0], lines[0])) and any(map(_NUMBER.match, cells))


def parse(section: Section) -> Parsed:
    """One Throughput for each row and rate."""
    found: list[Observation] = []
    unread: list[int] = []
    head: tuple[str, ...] = ()
    for index, line in enumerate(section.lines):
        told = _IS_HOROVOD.match(line)
        cells = _split(line, section.lines[0])
        if told:
            found.append(observe(
                section, index, "Throughput", unit=told["unit"], gpus=int(told["gpus"]), per_second=float(told["rate"])
            ))  # fmt: skip
        elif not head and any(map(_IS_RATE.match, cells)):
            head = cells
        elif head and (rows := _row(dict(zip(head, cells, strict=False)))):
            found += [observe(section, index, "Throughput", **row) for row in rows]
        elif line.strip() and not _IS_RULE.match(line) and not basics.is_elision(line):
            unread.append(index)
    rest = _program.leftovers(section, unread)
    return Parsed(observations=(*found, *rest.observations), unread=rest.unread)


def _split(line: str, head: str) -> tuple[str, ...]:
    """The cells of a line, separated by what separates those of the head."""
    line = line.strip()
    if "|" in head:
        return tuple(cell.strip().strip("*") for cell in line.strip("|").split("|"))
    if "\t" in head.strip():
        return tuple(cell.strip() for cell in line.split("\t"))
    if re.search(r"\S  +\S", head):
        return tuple(re.split(r"  +", line))
    return tuple(cell.strip() for cell in line.split(","))


def _row(cells: Mapping[str, str]) -> list[dict[str, Any]]:
    """The rates of a row; none where it does not say how many GPUs they are of."""
    nodes = next((count for name, cell in cells.items() if _NODES.match(name) and (count := _whole(cell))), None)
    gpus, per_node = None, False
    for name, cell in cells.items():
        if _GPUS.match(name) and (count := _whole(cell)):
            gpus, per_node = count, "per" in name.lower()
    if gpus is None:
        return []
    if per_node:
        nodes = nodes or 1
        gpus *= nodes
    told = {name for name in cells if any(p.match(name) for p in (_NODES, _GPUS, _IS_RATE, _SAID_TWICE))}
    case = ", ".join(f"{name} {cell}" for name, cell in cells.items() if name not in told and cell)
    row: dict[str, Any] = {"gpus": gpus, "case": case} | ({"nodes": nodes} if nodes else {})
    rates = [
        (name, cell.replace(",", "")) for name, cell in cells.items() if _IS_RATE.match(name) and _NUMBER.match(cell)
    ]
    return [{"unit": " ".join(name.split()), "per_second": float(rate), **row} for name, rate in rates]


def _whole(cell: str) -> int:
    return int(cell) if cell.isdecimal() and len(cell) < 8 else 0  # noqa: PLR2004  (no cluster has ten million)
