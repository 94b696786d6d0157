"""PCI devices that matter to NCCL from ``/sys/bus/pci``: GPUs, NICs, NVSwitches and the bridges above them.

Everybody may read link speed and width. ACS is in the extended configuration space, which only root can read; for other
users it is unknown (PCI Express Base Specification, ACS extended capability; names as lspci prints them).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.observe import Observation
from ncdiag.facts.scalars import bus_id
from ncdiag.machine.tree import Tree

DEVICES = "sys/bus/pci/devices"
NVIDIA_GPUS = "proc/driver/nvidia/gpus"

_BRIDGE = "0604"
_IDS = ("vendor", "device", "subsystem_vendor", "subsystem_device")
_NAMES = {  # the first four digits of a class, with lspci's words for them
    "0200": "Ethernet controller", "0207": "Infiniband controller", "0280": "Network controller",
    "0300": "VGA compatible controller", "0302": "3D controller", "0380": "Display controller", _BRIDGE: "PCI bridge",
    "0680": "Bridge", "1200": "Processing accelerators",
}  # fmt: skip
_SPEED = lazy_regex(r"(\d{1,4}(?:\.\d{1,4})?) GT/s")
_GENERATIONS = {2.5: 1, 5.0: 2, 8.0: 3, 16.0: 4, 32.0: 5, 64.0: 6, 128.0: 7}
_UNKNOWN_WIDTH = 255  # the kernel's PCIE_LNK_WIDTH_UNKNOWN

_EXTENDED, _ACS = 0x100, 0x000D
_ACS_CONTROLS = ("SrcValid", "TransBlk", "ReqRedir", "CmpltRedir", "UpstreamFwd", "EgressCtrl", "DirectTrans")
_ACS_REDIRECTS = 0x1 | 0x4 | 0x8 | 0x10  # SrcValid, ReqRedir, CmpltRedir, UpstreamFwd: check or redirect peer traffic


def pci(tree: Tree) -> Iterator[Observation]:
    """A PciDevice for each relevant device."""
    names = tree.names(DEVICES)
    if names is None:
        return
    for name in sorted(names):  # bus ids are hexadecimal
        kind = (tree.text(f"{DEVICES}/{name}/class") or "").removeprefix("0x")[:4]
        where = bus_id(name)
        if where and (kind[:2] in {"02", "03"} or kind in _NAMES):
            yield from _device(tree, name, where, kind)
    yield tree.whole(DEVICES, "sysfs_pci")


def _device(tree: Tree, name: str, where: str, kind: str) -> Iterator[Observation]:
    base, key = f"{DEVICES}/{name}", ("PciDevice", where)
    word = _NAMES.get(kind)
    yield tree.fact(f"{base}/class", *key, device_class=word, is_bridge=kind == _BRIDGE)
    above = bridges(tree.link(base))
    if above is not None:
        yield tree.fact(base, *key, text=" ".join(above), line=0, bridges=above)
    numbers = [tree.text(f"{base}/{file}") for file in _IDS]
    if all(numbers):
        ids = ":".join((number or "").removeprefix("0x") for number in numbers)
        yield tree.fact(f"{base}/vendor", *key, text=ids, line=0, ids=ids)
    for file, field in (("current_link_speed", "speed_gts"), ("max_link_speed", "speed_gts_max")):
        rate: dict[str, Any] = {field: speed(tree.text(f"{base}/{file}"))}
        yield from tree.told(f"{base}/{file}", *key, **rate)
    for file, field in (("current_link_width", "width"), ("max_link_width", "width_max")):
        lanes: dict[str, Any] = {field: _width(tree, f"{base}/{file}")}
        yield from tree.told(f"{base}/{file}", *key, **lanes)
    group = tree.target(f"{base}/iommu_group")
    number = int(group) if group and group.isdecimal() else None
    yield from tree.told(f"{base}/iommu_group", *key, text=group, iommu_group=number)
    node = tree.number(f"{base}/numa_node")
    yield from tree.told(f"{base}/numa_node", *key, numa_node=None if node == -1 else node)
    name_of_driver = tree.target(f"{base}/driver")
    yield from tree.told(f"{base}/driver", *key, text=name_of_driver, driver=name_of_driver)
    for file, field in (("sriov_numvfs", "virtual_functions"), ("sriov_totalvfs", "virtual_functions_max")):
        count: dict[str, Any] = {field: tree.number(f"{base}/{file}")}
        yield from tree.told(f"{base}/{file}", *key, **count)
    owner = bus_id(tree.target(f"{base}/physfn") or "")
    yield from tree.told(f"{base}/physfn", *key, text=owner, physical_function=owner)
    if kind == _BRIDGE:
        control = acs_control(tree.data(f"{base}/config") or b"")
        if control is not None:
            shown = " ".join(word + "-+"[control >> bit & 1] for bit, word in enumerate(_ACS_CONTROLS))
            redirects = bool(control & _ACS_REDIRECTS)
            yield tree.fact(
                f"{base}/config", *key, text=f"ACSCtl: {shown}", line=0, acs_controls=shown, acs_redirects=redirects
            )


def bridges(link: str | None) -> list[str] | None:
    """The bridges above a device, from its link in ``/sys/bus/pci/devices``, root port first; None without a link.

    ``../../../devices/pci0000:16/0000:16:01.0/0000:17:00.0``: every part that is a bus id is a bridge, except the last,
    which is the device.
    """
    parts = (link or "").split("/")
    return [found for part in parts[:-1] if (found := bus_id(part)) is not None] if "devices" in parts else None


def speed(text: str | None) -> float | None:
    """The speed of a link in GT/s; None for ``Unknown``."""
    found = _SPEED.match(text or "")
    return float(found[1]) if found else None


def _width(tree: Tree, path: str) -> int | None:
    width = tree.number(path)
    return width if width and width != _UNKNOWN_WIDTH else None


def acs_control(config: bytes) -> int | None:
    """The ACS control register in a bridge's configuration space; 0 without the capability, None if not readable."""
    at, steps = _EXTENDED, 0
    if len(config) < _EXTENDED + 4:
        return None
    while at >= _EXTENDED and at + 8 <= len(config) and steps < len(config) // 8:
        (header,) = struct.unpack_from("<I", config, at)
        if header & 0xFFFF == _ACS:
            (control,) = struct.unpack_from("<H", config, at + 6)
            return int(control)
        at, steps = header >> 20 & 0xFFC, steps + 1
    return 0


def nvidia_gpus(tree: Tree) -> Iterator[Observation]:
    """GPUs as listed by the NVIDIA driver: in a container only the assigned ones."""
    for name in sorted(tree.names(NVIDIA_GPUS) or ()):
        where = bus_id(name)
        path = f"{NVIDIA_GPUS}/{name}/information"
        lines = tree.lines(path)
        if where is None or lines is None:
            continue
        told = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
        key = ("Gpu", where)
        yield tree.fact(path, *key, text=lines[0] if lines else "", bus_id=where, model=told.get("Model") or None)
        yield from tree.told(path, *key, uuid=_uuid(told.get("GPU UUID")))
        yield from gpu_link(tree, where, key)


def gpu_link(tree: Tree, where: str, key: tuple[str, str | int]) -> Iterator[Observation]:
    """PCIe link and NUMA node of a GPU. The current speed of an idle GPU is lower than under load."""
    base = f"{DEVICES}/{where}"
    for file, field in (("current_link_speed", "pcie_gen"), ("max_link_speed", "pcie_gen_max")):
        rate: dict[str, Any] = {field: _GENERATIONS.get(speed(tree.text(f"{base}/{file}")) or 0)}
        yield from tree.told(f"{base}/{file}", *key, **rate)
    for file, field in (("current_link_width", "pcie_width"), ("max_link_width", "pcie_width_max")):
        lanes: dict[str, Any] = {field: _width(tree, f"{base}/{file}")}
        yield from tree.told(f"{base}/{file}", *key, **lanes)
    node = tree.number(f"{base}/numa_node")
    yield from tree.told(f"{base}/numa_node", *key, numa_node=None if node == -1 else node)


def _uuid(text: str | None) -> str | None:
    return text if text and "?" not in text else None  # question marks: the driver could not read it yet
