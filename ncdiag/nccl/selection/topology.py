"""Build NCCL's graph of a host from facts: from a topology file, or from the PCI tree of /sys and NVLink output.

Source: ncclTopoGetXmlFromSys, src/graph/xml.cc:758 (how PCI paths become switches), ncclTopoAddPci, ncclTopoAddNic,
ncclTopoAddNvLinks, ncclTopoFlattenBcmSwitches and ncclTopoConnectCpus, src/graph/topo.cc (v2.30.7-1).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations

import msgspec

from ncdiag.facts.model import Host, PciDevice, TopoCpu, TopoGpu, TopoSystem
from ncdiag.facts.vocabulary.gpus import numbered
from ncdiag.nccl.selection.graph import LOCAL_BW, Graph, Node

_LANE = {2.5: 15, 5.0: 30, 8.0: 60, 16.0: 120, 32.0: 240, 64.0: 480}
"""The bandwidth of a PCIe lane in units of 100 Mbit/s, by GT/s (kvDictPciGen)."""
_UNKNOWN_LANE, _UNKNOWN_WIDTH = 60, 16
_NVLINK = ((100, 40.1), (90, 20.6), (87, 20.0), (86, 12.0), (70, 20.0), (60, 18.0))
"""The bandwidth of one NVLink in GB/s, by the lowest compute capability times ten (ncclTopoNVLinkBw)."""
_NVLINK_ELSE = 20.0
_NET_MBPS = 10_000
"""The speed of a network device that does not report one, in Mbit/s."""
_INTEL = ((0xCF, 40.0), (0x8F, 22.0), (0x55, 10.0), (0, 6.0))
"""The bandwidth between two Intel CPUs in GB/s, by the lowest model number of family 6."""
_BETWEEN_CPUS = {"arm64": 6.0, "ppc64": 32.0, "AuthenticAMD": 16.0, "CentaurHauls": 6.0, "  Shanghai  ": 6.0}
_NVSWITCH, _POWER_CPU, _GPU, _BRIDGE = "0x068000", "0x068001", "0x03", "0604"
_BCM = {4: ("1000c0101000a", "1000c0101000a"), 5: ("1000c03010000", "1000c03010001")}
"""Broadcom switches that appear as two levels: the first digits of the ids of the upper and of the lower one."""


class Net(msgspec.Struct, frozen=True):
    """A network device to place in a PCI tree: its name, its PCI function, and its speed in Mbit/s."""

    name: str
    bus_id: str | None = None
    speed_mbps: int | None = None


class _Place(msgspec.Struct, frozen=True):
    """A PCI function: the switch above it (None: a CPU), the CPU, the GB/s of its link, and its ids without colons."""

    parent: str | None
    cpu: str
    bw: float
    ids: str = ""


def of_file(system: TopoSystem) -> Graph:
    """Return the graph of a topology file of one host; GPUs are named by NVML's index (``GPU0``)."""
    places = {
        device.bus_id: _Place(
            device.parent, _cpu_name(system.cpus, device.cpu), _pci_bw(device.width, device.speed_gts), _ids(
                (device.vendor, device.device, device.subsystem_vendor, device.subsystem_device)
            ),
        )
        for device in system.pci
    }  # fmt: skip
    builder = _Builder(places, {_cpu_name(system.cpus, n): _between(cpu) for n, cpu in enumerate(system.cpus)})
    for gpu in system.gpus:
        if gpu.dev is not None and gpu.dev >= 0 and gpu.bus_id is not None:
            builder.gpu(f"GPU{gpu.dev}", gpu.bus_id)
    for nic in system.nics:
        for net in nic.nets:
            if net.dev is not None and net.keep is not False:
                builder.net(Net(net.name, nic.bus_id, net.speed_mbps), _cpu_name(system.cpus, nic.cpu))
    for device in system.pci:
        for peer in device.peers:
            builder.switch_link(device.bus_id, peer)
    for gpu in system.gpus:
        builder.nvlinks(gpu)
    return builder.done()


def of_tree(host: Host, nets: Iterable[Net]) -> Graph | None:
    """Return the graph of the PCI tree in /sys; None when the place of a GPU in it was not seen.

    NVLinks are those in the output of ``nvidia-smi topo -m``.
    """
    by_bus = {device.bus_id: device for device in host.pci if device.bridges is not None}
    gpus = [gpu for gpu in numbered(host) if gpu.index is not None]
    if not gpus or any(gpu.bus_id not in by_bus for gpu in gpus):
        return None
    places = dict(_climb(by_bus))
    vendor = TopoCpu(arch="arm64" if host.cpu_arch == "aarch64" else host.cpu_arch, vendor=host.cpu_vendor)
    builder = _Builder(places, {place.cpu: _between(vendor) for place in places.values()})
    for gpu in gpus:
        builder.gpu(f"GPU{gpu.index}", gpu.bus_id or "")
    for net in nets:
        builder.net(net, "")
    for link in host.links:
        one, other = Node("gpu", link.a), Node("gpu", link.b)
        if link.nvlink_count and one in builder.graph.links and other in builder.graph.links:
            builder.graph.join(one, other, "NVL", link.nvlink_count * _NVLINK_ELSE)
    return builder.done()


class _Builder:
    """Adds devices to a graph, together with the switches and CPUs above them."""

    def __init__(self, places: Mapping[str, _Place], cpus: Mapping[str, float]) -> None:
        """Start with an empty graph; ``cpus`` maps NUMA nodes to the GB/s between them and the others."""
        self.graph = Graph()
        self.places = places
        self.cpus = {name: self.graph.add(Node("cpu", name)) for name in cpus}
        self._gpus: dict[str, Node] = {}
        for one, other in combinations(cpus, 2):
            self.graph.join(self.cpus[one], self.cpus[other], "SYS", cpus[one])

    def gpu(self, name: str, where: str) -> None:
        """Add a GPU at a PCI function."""
        node = self.graph.add(Node("gpu", name))
        self._gpus[where] = node
        self._hang(node, where)

    def net(self, net: Net, cpu: str) -> None:
        """Add a network device; one with an unknown place is attached to the CPU (the ``-1`` of a topology file)."""
        place = self.places.get(net.bus_id or "")
        if place is None:
            nic = Node("nic", f"at CPU {cpu}")
            if nic not in self.graph.links:
                above = self.cpus.get(cpu) or self.graph.add(Node("cpu", cpu))
                self.graph.join(self.graph.add(nic), above, "PCI", LOCAL_BW)
        else:
            nic = Node("nic", (net.bus_id or "").rpartition(".")[0])  # the ports of a card form one NIC
            if nic not in self.graph.links:
                self._hang(self.graph.add(nic), net.bus_id or "")
        speed = net.speed_mbps if net.speed_mbps and net.speed_mbps > 0 else _NET_MBPS
        self.graph.join(nic, self.graph.add(Node("net", net.name)), "NET", speed / 8000)

    def switch_link(self, one: str, other: str) -> None:
        """Add a link between two switches (``pcilink``)."""
        here, there = Node("pci", self._top(one)), Node("pci", self._top(other))
        if here in self.graph.links and there in self.graph.links:
            self.graph.one_way(here, there, "LOC", LOCAL_BW)

    def nvlinks(self, gpu: TopoGpu) -> None:
        """Add NVLinks to other GPUs, to the switches (which form one node) and to the CPU; then C2C."""
        node = self._gpus.get(gpu.bus_id or "")
        if node is None:
            return
        rate = next((bw for sm, bw in _NVLINK if (gpu.sm or 0) >= sm), _NVLINK_ELSE)
        for link in gpu.links:
            bw, to = (link.count or 0) * rate, link.target_class or ""
            if to.startswith(_GPU):
                if (peer := self._gpus.get(link.target)) is not None:
                    self.graph.one_way(node, peer, "NVL", bw)
            elif to.startswith(_POWER_CPU):
                self.graph.join(node, self._cpu_of(gpu.bus_id or ""), "NVL", bw)
            else:
                self.graph.join(node, self.graph.add(Node("nvs", "NVSwitch")), "NVL", bw)
        if gpu.c2c_bw and gpu.c2c_count:
            self.graph.join(node, self._cpu_of(gpu.bus_id or ""), "C2C", gpu.c2c_bw * gpu.c2c_count / 1000)

    def done(self) -> Graph:
        """Return the complete graph."""
        return self.graph

    def _cpu_of(self, where: str) -> Node:
        return self.cpus[self.places[where].cpu]

    def _hang(self, node: Node, where: str) -> None:
        """Link a device to the switch or CPU above it, and that one to the next, up to the CPU."""
        while True:
            place = self.places[where]
            parent = place.parent
            if parent is None or parent not in self.places:
                cpu = self.cpus.get(place.cpu) or self.graph.add(Node("cpu", place.cpu))  # a file that begins inside
                self.graph.join(node, cpu, "PCI", place.bw)
                return
            parent = self._top(parent)
            above = Node("pci", parent)
            known = above in self.graph.links
            self.graph.join(node, self.graph.add(above), "PCI", place.bw)
            if known:
                return
            node, where = above, parent

    def _top(self, switch: str) -> str:
        """The upper half of a Broadcom switch that appears as two, else the switch itself."""
        place = self.places.get(switch)
        above = self.places.get(place.parent) if place is not None and place.parent is not None else None
        if place is None or above is None or place.parent is None:
            return switch
        two = any(above.ids.startswith(high) and place.ids.startswith(low) for high, low in _BCM.values())
        return place.parent if two else switch


def _climb(by_bus: Mapping[str, PciDevice]) -> Iterator[tuple[str, _Place]]:
    """Yield NCCL's reading of each PCI path: two steps up is the switch above; a shorter path ends at the CPU."""
    for where, device in by_bus.items():
        above = device.bridges or ()
        port = by_bus.get(above[-1]) if above else None
        widths = [d.width_max for d in (device, port) if d is not None and d.width_max]
        speeds = [d.speed_gts_max for d in (device, port) if d is not None and d.speed_gts_max]
        node = -1 if device.numa_node is None else device.numa_node
        bw = _pci_bw(min(widths, default=None), min(speeds, default=None))
        yield where, _Place(above[-2] if len(above) > 1 else None, str(node), bw, (device.ids or "").replace(":", ""))


def _cpu_name(cpus: Sequence[TopoCpu], index: int | None) -> str:
    numa = cpus[index].numa_id if index is not None and index < len(cpus) else None
    return "-1" if numa is None else str(numa)


def _pci_bw(width: int | None, gts: float | None) -> float:
    """The bandwidth of a PCI link in GB/s."""
    return (width or _UNKNOWN_WIDTH) * _LANE.get(gts or 0.0, _UNKNOWN_LANE) / 80


def _between(cpu: TopoCpu) -> float:
    """The bandwidth between a CPU and the others of the host in GB/s (ncclTopoGetInterCpuBw)."""
    if cpu.arch in _BETWEEN_CPUS:
        return _BETWEEN_CPUS[cpu.arch]
    if cpu.vendor == "GenuineIntel":
        model = cpu.model_id if cpu.family_id == 6 and cpu.model_id is not None else 0  # noqa: PLR2004  (Intel's family)
        return next(bw for first, bw in _INTEL if model >= first)
    return _BETWEEN_CPUS.get(cpu.vendor or "", LOCAL_BW)


def _ids(parts: Iterable[str | None]) -> str:
    return "".join((part or "").removeprefix("0x").rjust(4, "0") for part in parts)
