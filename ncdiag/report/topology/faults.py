"""Find faults in a picture: NVLinks that are off, PCIe links narrower than possible, GPUs far from every NIC."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ncdiag.facts.model import Gpu, Host, TopoSystem
from ncdiag.report.topology.model import Pair, Pcie, Picture

_GENERATIONS = {2.5: 1, 5.0: 2, 8.0: 3, 16.0: 4, 32.0: 5, 64.0: 6}
"""GT/s of a lane, and the generation of PCIe."""
_SWITCHED = 12
"""Minimum number of NVLinks of a pair at an NVSwitch, where all pairs have the same number (A100 and later)."""


def pcie(place: str | None, host: Host, system: TopoSystem | None, gpu: Gpu | None = None) -> Pcie:
    """The PCIe link of the device on this function, from lspci or /sys, the driver or a topology file."""
    for device in host.pci:
        if place and device.bus_id == place and device.width is not None:
            return Pcie(
                device.width, device.width_max,
                _GENERATIONS.get(device.speed_gts or 0), _GENERATIONS.get(device.speed_gts_max or 0),
            )  # fmt: skip
    if gpu is not None and gpu.pcie_width is not None:
        return Pcie(gpu.pcie_width, gpu.pcie_width_max, gpu.pcie_gen, gpu.pcie_gen_max)
    for listed in system.pci if system else ():
        if listed.bus_id == place and listed.width:
            return Pcie(listed.width, None, _GENERATIONS.get(listed.speed_gts or 0))
    return Pcie()


def find(picture: Picture, host: Host) -> tuple[list[tuple[str, str]], set[Pair]]:
    """Sentences by the label of the device, and the pairs with a faulty link."""
    pairs: set[Pair] = set()
    told = [*_inactive(host), *_npus(host), *_pairs(picture, pairs), *_narrow(picture), *_distant(picture, pairs)]
    return list(dict.fromkeys(told)), pairs


def _inactive(host: Host) -> Iterator[tuple[str, str]]:
    most = max((gpu.nvlinks or 0 for gpu in host.gpus), default=0)
    for gpu in host.gpus:
        label = f"GPU{gpu.index}"
        if gpu.nvlinks_inactive and gpu.nvlinks is not None and (gpu.nvlinks or most):
            yield label, f"{gpu.nvlinks_inactive} of {gpu.nvlinks + gpu.nvlinks_inactive} NVLinks are inactive"
        elif gpu.nvlinks == 0 and most:
            yield label, f"no NVLink is active; other GPUs have {most}"


def _npus(host: Host) -> Iterator[tuple[str, str]]:
    for npu in host.npus:
        if npu.link_up is False:
            yield f"NPU{npu.index}", "the link of its network port is down"
        elif npu.health not in {None, "OK"}:
            yield f"NPU{npu.index}", f"its health is {npu.health}"


def _pairs(picture: Picture, bad: set[Pair]) -> Iterator[tuple[str, str]]:
    """GPUs at an NVSwitch reach all others with the same number of links."""
    gpus = [gpu.label for gpu in picture.of("gpu")]
    words = {pair: link.word for pair, link in picture.links.items() if pair[0] in gpus and pair[1] in gpus}
    counts = {pair: int(word[2:]) for pair, word in words.items() if word.startswith("NV") and word[2:].isdigit()}
    usual = Counter(counts.values()).most_common(1)
    if not usual or usual[0][0] < _SWITCHED or 2 * usual[0][1] < len(words):
        return
    odd = {pair for pair in words if counts.get(pair) != usual[0][0]}
    bad |= odd
    for label, number in Counter(label for pair in odd for label in pair).items():
        if number > 1 or len(gpus) == 2:  # noqa: PLR2004  (of two, both; else the one that all odd pairs share)
            there = sorted({words[pair] for pair in odd if label in pair})
            yield label, f"{' and '.join(there)} to {number} GPUs where other pairs have NV{usual[0][0]}"


def _narrow(picture: Picture) -> Iterator[tuple[str, str]]:
    """Fewer lanes than the device supports or, in a file without maxima, than others of its kind have.

    An idle GPU lowers its generation, so the generation counts only for NICs.
    """
    usual = {
        kind: max((d.pcie.width or 0 for d in picture.of(kind) if d.pcie.width_max is None), default=0)
        for kind in ("gpu", "nic")
    }
    for device in picture.devices:
        link = device.pcie
        most = link.width_max or usual[device.kind]
        if link.width and link.width < most:
            beside = "" if link.width_max else f", others of this host have x{most}"
            yield device.label, f"the PCIe link is narrower than possible: {link.text()}{beside}"
        elif device.kind == "nic" and (link.generation or 0) < (link.generation_max or 0):
            yield device.label, f"the PCIe link is slower than possible: {link.text()}"


def _distant(picture: Picture, bad: set[Pair]) -> Iterator[tuple[str, str]]:
    """A GPU that reaches every NIC only over the link between the CPUs, while another GPU has one on its own side."""
    gpus = [gpu for gpu in picture.of("gpu") if gpu.level]
    if any(gpu.level not in {"SYS", "SOC"} for gpu in gpus):
        for gpu in gpus:
            if gpu.level in {"SYS", "SOC"}:
                bad |= {(gpu.label, nic) for nic in gpu.nearest}
                yield gpu.label, f"every NIC is attached to another CPU ({gpu.level})"
