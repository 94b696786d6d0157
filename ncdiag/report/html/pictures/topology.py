"""Draw each host: GPUs and NICs at their CPUs, which NICs are next to a GPU, and which of them its ranks use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from ncdiag.facts.fold import fold_hosts
from ncdiag.facts.view import View
from ncdiag.language import phrase, say
from ncdiag.report import digest
from ncdiag.report.digest import counted
from ncdiag.report.drawing import Box
from ncdiag.report.html.context import Context
from ncdiag.report.html.drawing import Cell, box, cut, legend, line, matrix, picture, svg, words
from ncdiag.report.html.element import Child, Element, element
from ncdiag.report.topology.model import Device, Picture
from ncdiag.report.topology.plan import FAR, pictures
from ncdiag.report.topology.text import cell, cpu_title, groups, meanings

SHOWN = 4
"""Maximum number of different hosts that are drawn; those with faults come first."""
_WIDE, _HIGH, _GAP, _ROW = 116.0, 46.0, 10.0, 20.0
_LINES = 72.0
"""Height for the lines between GPUs and NICs."""


class Drawn(msgspec.Struct, frozen=True):
    """Hosts with the same picture. ``used`` are the NICs that their ranks list; None if no rank does.

    ``chosen`` are pairs of GPUs and the NICs named by the channels of their ranks, ``refused`` pairs for which NCCL
    printed that it does not use GPUDirect RDMA.
    """

    hosts: tuple[str, ...]
    picture: Picture
    used: frozenset[str] | None
    chosen: frozenset[tuple[str, str]]
    refused: frozenset[tuple[str, str]]

    def state(self, gpu: Device, nic: Device) -> str | None:
        """The style of the link: ``near`` for the nearest NIC of unknown use, None for a link that is not drawn."""
        is_near = nic.label in gpu.nearest
        if (gpu.label, nic.label) in self.refused:
            return "refused"
        ways = {label for device, label in self.chosen if device == gpu.label}
        if nic.label in ways:
            return "chosen"
        if not is_near:
            return None
        if ways or (self.used is not None and nic.name not in self.used):
            return "rejected"
        return "chosen" if self.used is not None else "near"


def plan(view: View) -> list[Drawn]:
    """The hosts whose devices were seen, equal ones merged, those with faults first."""
    alike: dict[tuple[object, ...], Drawn] = {}
    for found in pictures(view.job):
        use = _use(found, view)
        key = (found.devices, tuple(found.links.items()), found.faults, *use)
        held = alike.get(key)
        alike[key] = Drawn((*(held.hosts if held else ()), found.title), held.picture if held else found, *use)
    return sorted(alike.values(), key=lambda drawn: (not drawn.picture.faults, -len(drawn.hosts)))


Pairs = frozenset[tuple[str, str]]


def _use(found: Picture, view: View) -> tuple[frozenset[str] | None, Pairs, Pairs]:
    """NICs that the host's ranks list; GPUs with the NICs of their channels; pairs without GPUDirect RDMA."""
    host = view.host(found.title)
    gpus = {f"GPU{gpu.index}": gpu.bus_id for gpu in (host.gpus if host is not None else ())}
    names = {device.name: device.label for device in found.of("nic")}
    used: set[str] = set()
    chosen: set[tuple[str, str]] = set()
    refused: set[tuple[str, str]] = set()
    for rank in view.ranks_on(found.title):
        listed = {net.index: net.name.split("+") for net in rank.net_devices or ()}
        used |= {name for parts in listed.values() for name in parts}
        mine = [label for label, bus in gpus.items() if bus is not None and bus == rank.bus_id]
        label = mine[0] if mine else None if any(gpus.values()) else f"GPU{rank.cuda_dev}"
        if label is not None and label in {gpu.label for gpu in found.of("gpu")}:
            ways = [name for index in rank.nics_used or () for name in listed.get(index, ())]
            chosen |= {(label, names[name]) for name in ways if name in names}
            without = [verdict.hca for verdict in rank.gdr if verdict.gpu is not None and not verdict.enabled]
            refused |= {(label, names[name]) for name in without if name in names}
    return frozenset(used) if used & names.keys() else None, frozenset(chosen), frozenset(refused)


def draw(view: View, context: Context) -> Element | None:
    """One drawing for all hosts that are equal."""
    found = plan(view)
    if not found:
        return None
    parts: list[Child] = []
    for drawn in found[:SHOWN]:
        parts += _host(drawn, context)
    rest = [host for drawn in found[SHOWN:] for host in drawn.hosts]
    if rest:
        parts.append(
            element(
                "p",
                say("Not drawn: {hosts} ({names}).", hosts=counted(len(rest), "more host"), names=_folded(rest)),
                class_="quiet",
            )
        )
    told = say("GPUs and NICs are drawn under their CPU; lines connect each GPU to its nearest NICs.")
    return picture(context, say("GPUs and NICs of a host"), told, *parts)


def _folded(hosts: Sequence[str]) -> str:
    return digest.cut(fold_hosts(hosts), digest.LIST_LIMIT)


def _host(drawn: Drawn, context: Context) -> Iterator[Child]:
    found = drawn.picture
    title = phrase(drawn.hosts[0]) if len(drawn.hosts) == 1 else _folded(drawn.hosts)
    if len(drawn.hosts) > 1:
        title = say("{text} ({note})", text=title, note=say("{n} identical hosts", n=len(drawn.hosts)))
    title = say("{what}, from {source}", what=title, source=phrase(found.source))
    yield element("h4", title)
    sentences = list(_told(drawn))
    shapes, size = _shapes(drawn)
    yield svg(context, say("Topology of {host}", host=title), say(" ").join(sentences), size, shapes)
    if found.faults:
        yield element("ul", *(element("li", _fault(label, text)) for label, text in found.faults), class_="faults")
    states = {style for *_, style in _links(drawn)}
    yield legend((Cell("", f"way {state}"), say(text)) for state, text in _STATES.items() if state in states)
    yield element(
        "details",
        element("summary", say("Distances in a table")),
        *_matrices(found),
        element("p", say("; ").join(dict.fromkeys(map(phrase, meanings(found)))), class_="quiet"),
    )


_STATES = {
    "chosen": "used for this GPU: named by its channels, or the nearest NIC that NCCL lists",
    "chosen across": "the same, through the link between the CPUs",
    "refused": "NCCL does not use GPUDirect RDMA there",
    "rejected": "nearest to the GPU, but not used by NCCL",
    "near": "nearest to the GPU; unknown whether NCCL uses it",
    "near across": "the same, through the link between the CPUs",
}


_VERBS = {
    "chosen": "{gpu} uses {nics}.", "refused": "{gpu} does not use GPUDirect RDMA to {nics}.",
    "rejected": "{gpu} does not use {nics}.",
}  # fmt: skip


def _told(drawn: Drawn) -> Iterator[str]:
    """The picture in words."""
    found = drawn.picture
    for gpu in found.of("gpu"):
        states = {nic.label: drawn.state(gpu, nic) for nic in found.of("nic")}
        if gpu.nearest:
            nics = ", ".join(gpu.nearest)
            yield say("{gpu} is nearest to {nics} ({level}).", gpu=gpu.label, nics=nics, level=gpu.level)
        for state, sentence in _VERBS.items():
            if labels := [label for label, held in states.items() if held == state]:
                yield say(sentence, gpu=gpu.label, nics=", ".join(labels))
    yield from (say("{sentence}.", sentence=_fault(label, text)) for label, text in found.faults)


def _fault(label: str, text: str) -> str:
    return say("{label}: {text}", label=label, text=phrase(text))


def _shapes(drawn: Drawn) -> tuple[list[Child], tuple[float, float]]:
    found, left, height = drawn.picture, 0.5, 0.0
    frames: list[Child] = []
    boxes: dict[str, Box] = {}
    devices: list[Child] = []
    for node in groups(found):
        rows = [[d for d in found.of(kind) if d.cpu == node] for kind in ("gpu", "nic")]
        many = max(len(rows[0]), len(rows[1]), 2)
        width = many * _WIDE + (many + 1) * _GAP
        height = _ROW + 2 * _HIGH + _LINES + 2 * _GAP
        frames.append(box(Box(left, 0.5, width, height), "cpu"))
        listed = found.cpus.get(node, "") if node is not None else ""
        frames.append(words(left + _GAP, _ROW, cut(f"{phrase(cpu_title(node))}  {listed}", width - 2 * _GAP), "head"))
        for row, top in zip(rows, (_ROW + _GAP, _ROW + _GAP + _HIGH + _LINES), strict=True):
            for place, device in enumerate(row):
                middle = left + width * (place + 0.5) / len(row)
                boxes[device.label] = Box(middle - _WIDE / 2, top, _WIDE, _HIGH)
                devices += _device(drawn, device, boxes[device.label])
        left += width + _GAP
    return [*frames, *_ways(drawn, boxes), *devices], (left, height + 1)


def _device(drawn: Drawn, device: Device, place: Box) -> Iterator[Child]:
    wrong = drawn.picture.faulty(device.label)
    unused = device.kind == "nic" and drawn.used is not None and device.name not in drawn.used
    name = device.name if device.name and device.name != device.label else ""
    lines = [device.label, name.removeprefix("NVIDIA "), say("not used") if unused else device.pcie.text()]
    use = say("not used by NCCL") if unused else ""
    about = say("; ").join(filter(None, [device.label, name, device.pcie.text(), use, *map(phrase, wrong)]))
    style = f"{device.kind}{' fault' if wrong else ''}{' unused' if unused else ''}"
    yield box(place, style, about)
    shown = [text for text in lines if text]
    for number, text in enumerate(shown):
        yield words(
            place.x + 6, place.y + 14 + 13 * number, cut(text, place.width - 12), None if number else "head"
        )  # fmt: skip


def _links(drawn: Drawn) -> Iterator[tuple[Device, Device, str]]:
    """The links that are drawn, with their style."""
    for gpu in drawn.picture.of("gpu"):
        for nic in drawn.picture.of("nic"):
            state = drawn.state(gpu, nic)
            link = cell(drawn.picture, gpu.label, nic.label)
            if state is not None:
                across = state in {"chosen", "near"} and link is not None and link.word in FAR
                yield gpu, nic, f"{state} across" if across else state


def _ways(drawn: Drawn, boxes: dict[str, Box]) -> Iterator[Child]:
    for gpu, nic, style in _links(drawn):
        link = cell(drawn.picture, gpu.label, nic.label)
        one, other = boxes[gpu.label], boxes[nic.label]
        yield line(
            (one.x + one.width / 2, one.y + one.height), (other.x + other.width / 2, other.y), f"way {style}",
            say(
                "{label}: {text}", label=_pair(gpu.label, nic.label),
                text=say(", ").join((link.word if link else "?", say(_STATES[style]))),
            ),
        )  # fmt: skip


def _matrices(found: Picture) -> Iterator[Element]:
    gpus, nics = ([device.label for device in found.of(kind)] for kind in ("gpu", "nic"))
    for columns, label in ((gpus, "GPU to GPU"), (nics, "GPU to NIC")):
        if any(cell(found, row, column) for row in gpus for column in columns if row != column):
            yield matrix(say(label), say(label), columns, [(row, _row(found, row, columns)) for row in gpus])


def _pair(one: str, other: str) -> str:
    return say("{one} to {other}", one=one, other=other)


def _row(found: Picture, row: str, columns: Sequence[str]) -> list[Cell]:
    nearest = next((device.nearest for device in found.devices if device.label == row), ())
    cells: list[Cell] = []
    for column in columns:
        link = cell(found, row, column)
        mark = link.mark if link else ""
        style = "self" if row == column else mark or ("near" if column in nearest else "")
        cells.append(Cell(link.word if link else "?", style, _pair(row, column) if row != column else ""))
    return cells
