"""The parts of a picture of a host: its devices, the links between them, and the PCIe link of each device."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

Mark = Literal["", "far", "fault"]
"""``far``: a nearer NIC exists; ``fault``: the link is not optimal."""
Pair = tuple[str, str]


class Pcie(msgspec.Struct, frozen=True):
    """The PCIe link of a device: lanes and generation now, and the maximum."""

    width: int | None = None
    width_max: int | None = None
    generation: int | None = None
    generation_max: int | None = None

    def text(self) -> str:
        """``Gen4 x8 of Gen5 x16``; empty if nothing is known."""
        now, most = _link(self.generation, self.width), _link(self.generation_max, self.width_max)
        return f"{now} of {most}" if now and most and now != most else now


def _link(generation: int | None, width: int | None) -> str:
    return " ".join([*([f"Gen{generation}"] if generation else []), *([f"x{width}"] if width else [])])


class Device(msgspec.Struct, frozen=True):
    """A GPU or NPU (``gpu``) or a NIC; ``cpu`` is its NUMA node.

    ``nearest`` are the NICs that serve a GPU best, over a path of ``level``.
    """

    label: str
    kind: Literal["gpu", "nic"]
    name: str | None = None
    cpu: int | None = None
    nearest: tuple[str, ...] = ()
    level: str | None = None
    pcie: Pcie = Pcie()


class Link(msgspec.Struct, frozen=True):
    """An entry of the matrix: a word (``PIX``, ``NV18``) and its mark."""

    word: str
    mark: Mark = ""


class Picture(msgspec.Struct, frozen=True):
    """A host; ``cpus`` maps NUMA nodes to the CPUs in them as printed, ``faults`` are sentences by device label."""

    title: str
    source: str
    devices: tuple[Device, ...]
    links: Mapping[Pair, Link]
    cpus: Mapping[int, str]
    faults: tuple[tuple[str, str], ...]

    def of(self, kind: str) -> list[Device]:
        """The GPUs or the NICs, in order."""
        return [device for device in self.devices if device.kind == kind]

    def faulty(self, label: str) -> list[str]:
        """The faults of a device."""
        return [sentence for name, sentence in self.faults if name == label]
