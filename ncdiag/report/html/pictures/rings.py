"""Draw the paths of the data: rings of graph files and of logs, and the NICs (rails) that channels of ranks name."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from ncdiag.facts.fold import fold_ranks
from ncdiag.facts.model import GraphChannel, GraphPlan
from ncdiag.facts.view import View
from ncdiag.language import say
from ncdiag.report.digest import counted, cut
from ncdiag.report.drawing import Box
from ncdiag.report.html.context import Context
from ncdiag.report.html.drawing import Cell, box, legend, line, matrix, picture, svg, words
from ncdiag.report.html.element import Child, Element, element
from ncdiag.report.html.pictures import orders, rails, ranks

CHANNELS = 16
"""Maximum number of channels of a graph that are drawn; equal ones share a row."""
STOPS = 20
"""Maximum number of GPUs of a channel that are drawn."""
ROWS = 24
"""Maximum number of groups of ranks in the matrix of rails."""
_GRAPHS = {0: "Ring", 1: "Tree", 2: "CollNet", 3: "NVLS"}
_INSIDE, _BETWEEN = "{value} GB/s inside a host", "{value} GB/s between hosts"
_WIDE, _HIGH, _GAP, _LABEL = 58.0, 26.0, 22.0, 110.0
_HALF = 32
"""Number of bits below the host part of a number, in files that join hosts (since 2.21)."""


def draw(view: View, context: Context) -> Element | None:
    """The rings of the log and of the first graph file with rings, then the rails."""
    parts = [*_graphs(view, context), *orders.drawn(view, context), *_rails(view), *rails.crossings(view)]
    if not parts:
        return None
    told = say("The order of GPUs in each channel, and the NICs through which data leaves and enters each host.")
    return picture(context, say("Rings and rails"), told, *parts)


def _graphs(view: View, context: Context) -> Iterator[Child]:
    plans = [plan for dump in view.job.graph_dumps for plan in dump.graphs if any(each.gpus for each in plan.channels)]
    for plan in list(dict.fromkeys(plans))[: len(_GRAPHS)]:
        rows = _rows(plan)
        about = _about(plan)
        yield element("h4", about)
        told = [
            say("{label}: {text}.", label=label, text=say(" to ").join(text for _, text in stops))
            for label, stops in rows
        ]
        yield svg(context, about, say(" ").join(told), *_drawn(rows))
        yield element(
            "details", element("summary", say("In words")), element("ul", *(element("li", each) for each in told))
        )


def _about(plan: GraphPlan) -> str:
    """``Ring: 4 channels, each 24 GB/s inside a host, 12 GB/s between hosts``."""
    name = say(_GRAPHS[plan.id]) if plan.id in _GRAPHS else say("Graph {n}", n=plan.id)
    limits = [
        say(text, value=f"{value:g}")
        for value, text in ((plan.bw_intra, _INSIDE), (plan.bw_inter, _BETWEEN)) if value is not None
    ]  # fmt: skip
    text = counted(len(plan.channels), "channel")
    if limits:
        text = say("{channels}, each {limits}", channels=text, limits=say(", ").join(limits))
    return say("{label}: {text}", label=name, text=text)


Stop = tuple[str, str]
"""The kind of a device (``gpu`` or ``nic``) and its label."""


def _rows(plan: GraphPlan) -> list[tuple[str, list[Stop]]]:
    """The stops of each channel, equal channels together."""
    alike: dict[tuple[Stop, ...], list[int]] = defaultdict(list)
    for number, channel in enumerate(plan.channels):
        alike[tuple(_stops(channel))].append(number)
    return [
        (say("channel {n}" if len(numbers) == 1 else "channels {n}", n=fold_ranks(numbers)), list(stops))
        for stops, numbers in list(alike.items())[:CHANNELS]
    ]


def _stops(channel: GraphChannel) -> Iterator[Stop]:
    """Sequence of the first net, the GPUs, and the last net."""
    nets = [("nic", f"net {_number(net)}") for net in channel.nets]
    gpus = [("gpu", f"GPU {_number(gpu)}") for gpu in channel.gpus]
    if len(channel.ranks) == len(gpus):
        gpus = [("gpu", say("rank {ranks}", ranks=rank)) for rank in channel.ranks]
    yield from nets[:1]
    yield from gpus[:STOPS]
    if len(gpus) > STOPS:
        yield "more", f"+{len(gpus) - STOPS}"
    yield from nets[1:2]


def _number(number: int) -> str:
    """A number without the host, which is in its upper half in files that join hosts."""
    return (
        str(number)
        if number < 1 << _HALF
        else say("{n} of {host}", n=number & ((1 << _HALF) - 1), host=f"{number >> _HALF:x}")
    )


def _drawn(rows: Sequence[tuple[str, Sequence[Stop]]]) -> tuple[tuple[float, float], list[Child]]:
    shapes: list[Child] = []
    size = (_LABEL + max(len(stops) for _, stops in rows) * (_WIDE + _GAP), len(rows) * (_HIGH + _GAP / 2) + 2)
    for place, (label, stops) in enumerate(rows):
        top = 1 + place * (_HIGH + _GAP / 2)
        shapes.append(words(0, top + 17, cut(label, 18)))
        for number, (kind, text) in enumerate(stops):
            left = _LABEL + number * (_WIDE + _GAP)
            if number:
                shapes.append(line((left - _GAP + 2, top + _HIGH / 2), (left - 3, top + _HIGH / 2), "arrow"))
                shapes.append(element("path", d=f"M{left - 8:g} {top + _HIGH / 2 - 4:g} l6 4 l-6 4 z", class_="head"))
            shapes.append(box(Box(left, top, _WIDE, _HIGH), kind, text))
            shapes.append(words(left + _WIDE / 2, top + 17, cut(text, 9), anchor="middle"))
    return size, shapes


def _rails(view: View) -> Iterator[Child]:
    """Which of the listed NICs the channels of a rank name; equal ranks are merged."""
    groups: dict[tuple[frozenset[str], tuple[str, ...]], list[int]] = defaultdict(list)
    for rank in view.job.ranks:
        if rank.nics_used and rank.net_devices and rank.rank is not None:
            listed = {net.index: net.name for net in rank.net_devices}
            used = frozenset(listed[index] for index in rank.nics_used if index in listed)
            groups[used, tuple(listed.values())].append(rank.rank)
    if not groups:
        return
    names = list(dict.fromkeys(name for _, listed in groups for name in listed))
    used_cell, listed_cell = Cell("x", "near", say("used")), Cell("-", "", say("listed"))
    rows = [
        (ranks.named(numbers, 60),
         [used_cell if name in used else listed_cell if name in listed else None for name in names])
        for (used, listed), numbers in list(groups.items())[:ROWS]
    ]  # fmt: skip
    yield element("h4", say("NICs used by the channels of a rank"))
    yield matrix(say("NICs by rank"), say("ranks"), names, rows)
    is_listed = any(listed_cell in cells for _, cells in rows)
    unused = [(listed_cell, say("listed, not used"))] if is_listed else []
    yield legend([(used_cell, say("its channels use this NIC")), *unused])
    if len(groups) > ROWS:
        yield element(
            "p",
            say("{groups} of ranks not shown.", groups=counted(len(groups) - ROWS, "more group")),
            class_="quiet",
        )
