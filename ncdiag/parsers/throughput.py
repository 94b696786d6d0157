"""Training throughput by number of GPUs: tables that people make, and the last line of Horovod's synthetic benchmarks.

A table is known by its head: a column that counts GPUs and one that names a rate (``samples/s``, ``images/sec``,
``throughput``), between bars, tabs, commas or two blanks; sentences about GPUs are none. Between bars a column of nodes
(``single`` or ``multi`` in it) and one of speeds or times will do, whose cells have the unit (``485 ms/step``). Columns
that tell the same otherwise (speedup, efficiency) are left out, all others (batch size, precision) say which rows
belong together.
Source of the Horovod line: horovod examples/pytorch/pytorch_synthetic_benchmark.py.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation, Parsed, observe
from ncdiag.formats import basics
from ncdiag.parsers import _program

KIND = "throughput"
COMMANDS: tuple[str, ...] = ()
_EDGE = r"(?:[|,\t]|  )[ ]{0,60}"
_COUNT = (
    r"(?:#|n|no\.? of |number of |num)?[ _]?(?:gpus?|devices|ranks|world[ _]size)"
    r"(?:[ _](?:num|count|per[ _]node|num[ _]per[ _]node))?|GPU ?数量?|卡数"
)
_RATE = (
    r"[\w<>()\uff08\uff09+ -]{0,40}(?:(?:samples|images|imgs?|tokens|sentences|sequences|seqs|examples|words)"
    r"[ ]?(?:/|per)[ ]?s(?:ec(?:ond)?)?|throughput)(?:[ ]?\([^()|]{0,30}\))?[)\uff09]?"
)
_PLACES = r"(?:#|n|number of |num)?[ _]?(?:nodes?|hosts?|machines?)(?:[ _](?:num|count))?|节点数?|机器数?"
_SPEED = r"(?:[\w ]{0,20}[ ])?(?:speed|time|latency)(?:[ ]?\([^()|]{0,30}\))?|速度|耗时|性能"

_HOROVOD = (
    r"(?:\[1,\d{1,6}\]<std(?:out|err)>:[ ]?)?"
    r"Total [a-z]{1,20}/sec on \d{1,6} \w{1,10}\(s\): [\d.]{1,20}"
)
_CELLS = tuple(rf"(?=(?:.{{0,300}}?{_EDGE})?(?i:{name})[ ]{{0,60}}(?:[|,\t]|  |[ ]?$))" for name in (_COUNT, _RATE))
_BETWEEN_BARS = tuple(rf"(?=(?:.{{0,300}}?\|)?[ ]{{0,60}}(?i:{name})[ ]{{0,60}}(?:\||$))" for name in (_PLACES, _SPEED))
_HAS_RATE = r"(?=.{0,600}?(?i:(?:/|per)[ ]?s|throughput))"
"""Checked first, because to look for each column costs more; it reaches further than the columns may be."""
ANCHOR = f"(?:{_HAS_RATE}{''.join(_CELLS)}|(?=.{{0,300}}\\|){''.join(_BETWEEN_BARS)}|{_HOROVOD})"
SIGNS = ("speed", "time", "latency", "速度", "耗时", "性能")
FREQUENT = {"time": "the heading of a column of times, beside one of hosts, which are in more lines still"}

_IS_HOROVOD = lazy_regex(rf"(?=.*Total (?P<unit>\S+) on (?P<gpus>\d+) \S+ (?P<rate>\d+(?:\.\d+)?)){_HOROVOD}")
_IS_RULE = lazy_regex(r"[-|:+= \t]+$")
_GPUS = lazy_regex(rf"{_COUNT}$", re.IGNORECASE)
_NODES = lazy_regex(rf"(?:{_PLACES})$", re.IGNORECASE)
_ONE, _SEVERAL = lazy_regex(r"single|one|单机?", re.IGNORECASE), lazy_regex(r"multi|several|多机?", re.IGNORECASE)
_STEP = lazy_regex(
    r"(?P<number>\d{1,9}(?:\.\d{1,9})?)[ ]?(?P<unit>(?P<milli>m?)s(?:ec(?:onds?)?)?[ ]?(?:/|per)[ ]?"
    r"(?:steps?|it(?:er(?:ation)?s?)?|batch))$"
)
"""How long a step takes."""
_PER_STEP = "s/step"
_IS_RATE = lazy_regex(rf"{_RATE}$", re.IGNORECASE)
_SAID_TWICE = lazy_regex(
    r"speed[ _-]?up|加速比|扩展效率|\b(?:scaling|efficiency|scaling[ _]efficiency)(?:[ ]?\(?%\)?)?$", re.IGNORECASE
)
_NUMBER = lazy_regex(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?$|\d{1,15}(?:\.\d{1,10})?$")


def continues(lines: Sequence[str], line: str) -> bool:
    """Rows of the table that the first line heads; further lines of Horovod."""
    if _IS_HOROVOD.match(lines[0]):
        return _IS_HOROVOD.match(line) is not None
    if _IS_RULE.match(line) and line.strip():
        return True
    cells = _split(line, lines[0])
    is_row = any(_NUMBER.match(cell) or _STEP.match(cell) for cell in cells)
    return 1 < len(cells) <= len(_split(lines[0], lines[0])) and is_row


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
        elif not head and (any(map(_IS_RATE.match, cells)) or (index == 0 and any(map(_NODES.match, cells)))):
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
    """The rates of a row; none where it does not say how many GPUs, or nodes, they are of."""
    nodes, several = _nodes(cells)
    gpus, per_node = None, False
    for name, cell in cells.items():
        if _GPUS.match(name) and (count := _whole(cell)):
            gpus, per_node = count, "per" in name.lower()
    step = next((found for cell in cells.values() if (found := _STEP.match(cell))), None)
    if gpus is None and step is not None and (nodes or several):
        gpus = nodes or 2
    if gpus is None:
        return []
    if per_node:
        nodes = nodes or 1
        gpus *= nodes
    told = {name for name, cell in cells.items() if _is_told(name, cell)}
    case = ", ".join(f"{name} {cell}" for name, cell in cells.items() if name not in told and cell)
    row: dict[str, Any] = {"gpus": gpus, "case": case} | ({"nodes": nodes} if nodes else {})
    row |= {"several": True} if several else {}
    if step is not None and (seconds := float(step["number"]) / (1000 if step["milli"] else 1)):
        return [{"unit": _PER_STEP, "per_second": gpus / seconds, **row}]
    rates = [
        (name, cell.replace(",", "")) for name, cell in cells.items() if _IS_RATE.match(name) and _NUMBER.match(cell)
    ]
    return [{"unit": " ".join(name.split()), "per_second": float(rate), **row} for name, rate in rates]


def _nodes(cells: Mapping[str, str]) -> tuple[int | None, bool]:
    """How many nodes a row says that it is of, and whether it says that they are several and not how many."""
    for name, cell in cells.items():
        if _NODES.match(name):
            return _whole(cell) or (1 if _ONE.match(cell) else None), _SEVERAL.match(cell) is not None
    return None, False


def _is_told(name: str, cell: str) -> bool:
    """Is the cell a count or a speed? A column of GPUs may have their names."""
    if _GPUS.match(name):
        return _whole(cell) > 0
    measured = _IS_RATE.match(name) or _SAID_TWICE.search(name) or _STEP.match(cell) or _NODES.match(name)
    return measured is not None


def _whole(cell: str) -> int:
    return int(cell) if cell.isdecimal() and len(cell) < 8 else 0  # noqa: PLR2004  (no cluster has ten million)
