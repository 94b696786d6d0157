"""NCCL's topology file: what NCCL_TOPO_DUMP_FILE writes and NCCL_TOPO_FILE reads.

Source of the format: NCCL src/graph/xml.cc (ncclTopoDumpXmlRec, ncclTopoGetXmlFromSys, ncclTopoGetXmlFromGpu), topo.cc
(ncclTopoFillNet and the attributes of net), 2.3 to 2.30; RCCL adds ``gcn`` and names its links ``xgmi``.

What the file tells of devices counts less than what tools print: a job may have been given a file made elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from ncdiag.base.spans import Section
from ncdiag.facts.model import TopoCpu, TopoGpu, TopoNet, TopoNic, TopoNvlink, TopoPci
from ncdiag.facts.observe import Observation, Parsed, observe
from ncdiag.facts.scalars import bus_id
from ncdiag.formats import xml

KIND = "topo_xml"
COMMANDS: tuple[str, ...] = ()
_FIRST = r"(?:system (?:version|name)|cpu (?:host_hash|numaid)|pci busid|gpu dev|nvlink target)="
ANCHOR = rf"\s{{0,40}}{xml.LESS}{_FIRST}{xml.QUOTE}"

_BRIDGE = "0x0604"
_INVENTED = "ffff:ff:"
"""Bus of the switches in files that cloud providers write for their machines; no machine has them."""
_LINKS = frozenset({"nvlink", "xgmi"})


def continues(lines: Sequence[str], line: str) -> bool:
    """Tags, wrapped attributes and comments, to the end of the system."""
    return xml.continues(lines, line, "system")


def parse(section: Section) -> Parsed:
    """The system, and what it tells of GPUs, PCI devices, HCAs and NVLinks of the host (of one host only)."""
    document = xml.read(section)
    reader = _Reader(document)
    if not any((reader.cpus, reader.pci, reader.gpus, reader.nics)):
        return Parsed(unread=tuple(i for i, line in enumerate(section.lines) if line.strip()))
    hashes = {cpu.host_hash for cpu in reader.cpus if cpu.host_hash}
    system = observe(
        section, 0, "TopoSystem", name=reader.name, version=reader.version, whole="system" in document.closed,
        nhosts=len(hashes) or None, cpus=_plain(reader.cpus), pci=_plain(reader.pci), gpus=_plain(reader.gpus),
        nics=_plain(reader.nics), standing="conf",
    )  # fmt: skip
    return Parsed(observations=(system, *(_devices(section, reader) if len(hashes) < 2 else ())))  # noqa: PLR2004


class _Reader:
    """Collects the devices, each with the CPU and the PCI device that it hangs at."""

    def __init__(self, document: xml.Document) -> None:
        """One pass over the elements; a parent always comes before its children."""
        self.name: str | None = None
        self.version: int | None = None
        self.cpus: list[TopoCpu] = []
        self.pci: list[TopoPci] = []
        self.gpus: list[TopoGpu] = []
        self.nics: list[TopoNic] = []
        self.lines: dict[tuple[str, int], int] = {}
        self._children: dict[tuple[str, int], list[Any]] = {}
        self._places: list[_Place] = []
        for element in document.elements:
            above = self._places[element.parent] if element.parent is not None else _Place()
            self._places.append(self._take(element, element.attributes.get, above))
        self._join()

    def _take(self, element: xml.Element, get: Any, above: _Place) -> _Place:  # noqa: ANN401  (dict.get)
        """Read one element; returns the place that its children have."""
        name = element.name
        if name == "system":
            self.name, self.version = get("name"), xml.integer(get("version"))
        elif name == "cpu":
            self.cpus.append(_cpu(get))
            return _Place(cpu=len(self.cpus) - 1)
        elif name == "pci" and get("busid"):
            where = _address(get("busid"))
            self._keep("pci", self.pci, _pci(get, where, above), element.line)
            return _Place(above.cpu, where, ("pci", len(self.pci) - 1))
        elif name == "gpu":
            self._keep("gpu", self.gpus, _gpu(get, above), element.line)
            return _Place(above.cpu, above.pci, ("gpu", len(self.gpus) - 1))
        elif name == "nic":
            self._keep("nic", self.nics, TopoNic(bus_id=above.pci, cpu=above.cpu), element.line)
            return _Place(above.cpu, above.pci, ("nic", len(self.nics) - 1))
        elif above.owner is not None:
            self._children.setdefault(above.owner, []).append(element)
        return above

    def _keep(self, kind: str, held: list[Any], fact: Any, line: int) -> None:  # noqa: ANN401
        self.lines[kind, len(held)] = line
        held.append(fact)

    def _join(self) -> None:
        """Put links, nets and switch links into their GPUs, NICs and switches."""
        for (kind, index), elements in self._children.items():
            if kind == "gpu":
                self.gpus[index] = _with_links(self.gpus[index], elements)
            elif kind == "nic":
                nets = tuple(_net(e.attributes.get) for e in elements if e.name == "net" and e.attributes.get("name"))
                self.nics[index] = msgspec.structs.replace(self.nics[index], nets=nets)
            else:
                peers = tuple(_address(e.attributes.get("target") or "") for e in elements if e.name == "pcilink")
                self.pci[index] = msgspec.structs.replace(self.pci[index], peers=peers)


class _Place(msgspec.Struct, frozen=True):
    """Where an element stands: index of the CPU, bus id of the PCI device, and whose child it is."""

    cpu: int | None = None
    pci: str | None = None
    owner: tuple[str, int] | None = None


def _address(text: str) -> str:
    """The bus id as everywhere; what is none (``fffffff:ffff:ff``, an unseen NVSwitch) stays as printed."""
    return bus_id(text) or text.lower()[:40]


def _cpu(get: Any) -> TopoCpu:  # noqa: ANN401
    return TopoCpu(
        numa_id=xml.integer(get("numaid")), host_hash=get("host_hash"), affinity=get("affinity"), arch=get("arch"),
        vendor=get("vendor"), family_id=xml.integer(get("familyid")), model_id=xml.integer(get("modelid")),
    )  # fmt: skip


def _pci(get: Any, where: str, above: _Place) -> TopoPci:  # noqa: ANN401
    return TopoPci(
        bus_id=where, cpu=above.cpu, parent=above.pci, class_code=get("class"), vendor=get("vendor"),
        device=get("device"), subsystem_vendor=get("subsystem_vendor"), subsystem_device=get("subsystem_device"),
        speed_gts=xml.real(get("link_speed")), width=xml.integer(get("link_width")),
    )  # fmt: skip


def _gpu(get: Any, above: _Place) -> TopoGpu:  # noqa: ANN401
    return TopoGpu(
        bus_id=above.pci, cpu=above.cpu, dev=xml.integer(get("dev")), sm=xml.integer(get("sm")), gcn=get("gcn"),
        rank=xml.integer(get("rank")), gdr=_flag(get("gdr")),
    )  # fmt: skip


def _with_links(gpu: TopoGpu, elements: Sequence[xml.Element]) -> TopoGpu:
    links = tuple(
        TopoNvlink(
            target=_address(e.attributes["target"]), count=xml.integer(e.attributes.get("count")),
            target_class=e.attributes.get("tclass"), kind=e.name,
        )
        for e in elements
        if e.name in _LINKS and e.attributes.get("target")
    )  # fmt: skip
    c2c = next((e.attributes for e in elements if e.name == "c2c"), {})
    return msgspec.structs.replace(
        gpu, links=links, c2c_bw=xml.integer(c2c.get("bw")), c2c_count=xml.integer(c2c.get("count"))
    )


def _net(get: Any) -> TopoNet:  # noqa: ANN401
    return TopoNet(
        name=get("name"), dev=xml.integer(get("dev")), speed_mbps=xml.integer(get("speed")),
        port=xml.integer(get("port")), guid=get("guid"), latency=xml.real(get("latency")),
        max_connections=xml.integer(get("maxconn")), gdr=_flag(get("gdr")), collnet=_flag(get("coll")),
        keep=_flag(get("keep")), rail=xml.integer(get("rail")),
    )  # fmt: skip


def _flag(text: str | None) -> bool | None:
    number = xml.integer(text)
    return None if number is None else number != 0


def _plain(facts: Sequence[Any]) -> list[dict[str, Any]]:
    """Structs as observations hold them."""
    built: list[dict[str, Any]] = msgspec.to_builtins(facts)
    return built


def _devices(section: Section, reader: _Reader) -> Iterator[Observation]:
    """What the file tells of the host's own devices."""
    nodes = [cpu.numa_id if cpu.numa_id is not None and cpu.numa_id >= 0 else None for cpu in reader.cpus]

    def seen(kind: str, index: int, entity: str, *key: str | int, **fields: Any) -> Observation:  # noqa: ANN401
        return observe(section, reader.lines[kind, index], entity, key, standing="conf", **fields)

    for index, device in enumerate(reader.pci):
        if bus_id(device.bus_id) and not device.bus_id.startswith(_INVENTED):
            bridge = device.class_code.startswith(_BRIDGE) if device.class_code else None
            parent = None if (device.parent or _INVENTED).startswith(_INVENTED) else device.parent
            yield seen(
                "pci", index, "PciDevice", device.bus_id, is_bridge=bridge, class_code=device.class_code,
                numa_node=nodes[device.cpu] if device.cpu is not None else None, parent=parent,
            )  # fmt: skip
    for index, gpu in enumerate(reader.gpus):
        key = gpu.dev if gpu.dev is not None and gpu.dev >= 0 else gpu.bus_id
        if key is not None:
            yield seen("gpu", index, "Gpu", key, **_gpu_fields(gpu, nodes))
    for index, (a, b), count in _pairs(reader.gpus):
        yield seen("gpu", index, "TopoLink", f"GPU{a}", f"GPU{b}", nvlink_count=count)
    for index, nic in enumerate(reader.nics):
        for net in nic.nets:
            if _is_rdma(net):
                node = nodes[nic.cpu] if nic.cpu is not None else None
                yield seen("nic", index, "Hca", net.name, bus_id=bus_id(nic.bus_id or ""), numa_node=node)


def _gpu_fields(gpu: TopoGpu, nodes: Sequence[int | None]) -> dict[str, Any]:
    counts = [link.count for link in gpu.links if link.kind == "nvlink" and link.count is not None]
    nvidia = gpu.gcn is None and gpu.sm is not None and all(link.kind == "nvlink" for link in gpu.links)
    return {
        "bus_id": bus_id(gpu.bus_id or ""), "numa_node": nodes[gpu.cpu] if gpu.cpu is not None else None,
        "nvlinks": sum(counts) if counts else None,
        "compute_capability": f"{gpu.sm // 10}.{gpu.sm % 10}" if nvidia and gpu.sm is not None else None,
    }  # fmt: skip


def _pairs(gpus: Sequence[TopoGpu]) -> Iterator[tuple[int, tuple[int, int], int]]:
    """GPUs that are joined directly, without a switch: which of them told it, lower index first, how many links."""
    numbers = {gpu.bus_id: gpu.dev for gpu in gpus if gpu.bus_id is not None and gpu.dev is not None}
    seen: set[tuple[int, int]] = set()
    for index, gpu in enumerate(gpus):
        for link in gpu.links:
            other = numbers.get(link.target)
            if gpu.dev is None or other is None or link.count is None or link.kind != "nvlink" or other == gpu.dev:
                continue
            pair = min(gpu.dev, other), max(gpu.dev, other)
            if pair not in seen:
                seen.add(pair)
                yield index, pair, link.count


def _is_rdma(net: TopoNet) -> bool:
    """Sockets have no GUID; a ``+`` joins the ports of several devices."""
    return bool(_xml_guid(net.guid)) and "+" not in net.name


def _xml_guid(text: str | None) -> int:
    try:
        return int(text or "0", 0)
    except ValueError:
        return 0
