"""Compute the picture of a host: devices by CPU, the links between them, and which are not optimal."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from ncdiag.facts.assemble_hosts import UNNAMED
from ncdiag.facts.model import Gpu, Hca, Host, Job, TopoCpu, TopoGpu, TopoNet, TopoNic, TopoSystem
from ncdiag.facts.scalars import Version
from ncdiag.facts.vocabulary.gpus import numbered
from ncdiag.nccl.selection.distances import Distances, distances
from ncdiag.nccl.selection.topology import Net
from ncdiag.report.topology import faults
from ncdiag.report.topology.model import Device, Link, Mark, Pair, Picture

NEWEST = Version(2, 27)
"""The release whose words are used for paths that no tool named."""
ORDER = ("LOC", "NV", "NVB", "C2C", "PIX", "PXB", "P2C", "PXN", "PHB", "NODE", "SYS", "SOC")
"""Words for a path, nearest first."""
_TITLES = {UNNAMED: "a host"}
_VENDORS = {
    **dict.fromkeys(("XGMI", "PCIE"), "AMD's tools"),
    **dict.fromkeys(("HCCS", "HCCS_SW", "SIO", "PHB", "SYS"), "npu-smi info -t topo"),
}
"""The vendor's tool that uses these words for a link."""
FAR = frozenset({"SYS", "SOC"})


def pictures(job: Job) -> list[Picture]:
    """A picture of each host whose devices were seen, and of each topology file that belongs to no such host."""
    files = {system.host: system for system in job.topologies if system.host and (system.nhosts or 1) == 1}
    found = [_picture(host, files.get(host.name)) for host in job.hosts]
    drawn = [files[host.name] for host in job.hosts if host.name in files]
    for system in (system for system in job.topologies if system not in drawn):
        found += [_picture(Host(name=name), part) for name, part in _parts(system)]
    return [picture for picture in found if picture is not None]


def _parts(system: TopoSystem) -> Iterable[tuple[str, TopoSystem]]:
    """The hosts of a file that joins several, each with the devices below its own CPUs."""
    name = system.name or "topology file"
    hashes = list(dict.fromkeys(cpu.host_hash for cpu in system.cpus))
    if len(hashes) < 2:  # noqa: PLR2004  (one host)
        yield name, system
        return
    for number, host_hash in enumerate(hashes):
        mine = {place for place, cpu in enumerate(system.cpus) if cpu.host_hash == host_hash}
        yield (
            f"{name}, host {number}",
            msgspec.structs.replace(
                system,
                gpus=tuple(gpu for gpu in system.gpus if gpu.cpu in mine),
                nics=tuple(nic for nic in system.nics if nic.cpu in mine),
                pci=tuple(device for device in system.pci if device.cpu in mine),
            ),
        )


def rank(word: str | None) -> int:
    """The distance of a path as a rank; unknown words are the farthest."""
    plain = re.sub(r"^(?:NV(?:L|\d+)|XGMI)$", "NV", word or "")
    return ORDER.index(plain) if plain in ORDER else len(ORDER)


def _picture(host: Host, system: TopoSystem | None) -> Picture | None:
    system = _with_devices(system) if system else None
    if system is None:
        host = msgspec.structs.replace(host, gpus=numbered(host))
    nets = [Net(name=hca.name, bus_id=hca.bus_id) for hca in host.hcas]
    seen = distances(host, system, nets) or Distances("reported by the host")
    gpus = _accelerators(host, seen)
    names = tuple(name for name in seen.nets if not name.startswith("NPU")) or tuple(net.name for net in nets)
    if not gpus:
        return None
    labels = _labels(host, names)
    words = _words(host, seen, gpus, names)
    links = {_named(pair, labels): Link(word, _far(word, pair, names, words)) for pair, word in words.items()}
    devices = _devices(host, system, gpus, names, labels, words)
    picture = Picture(
        title=_TITLES.get(host.name, host.name),
        source=_VENDORS.get(next((link.link_type for link in host.links if link.link_type), ""), seen.source),
        devices=tuple(devices),
        links=links,
        cpus=_cpus(host, system),
        faults=(),
    )
    wrong, bad = faults.find(picture, host)
    links = {pair: Link(link.word, "fault") if pair in bad else link for pair, link in links.items()}
    return msgspec.structs.replace(picture, links=links, faults=tuple(wrong))


def _with_devices(system: TopoSystem) -> TopoSystem:
    """The system with devices: a file from a cloud names only PCI functions, so GPUs and NICs are taken from these."""
    if system.gpus:
        return system
    seen = {nic.bus_id for nic in system.nics}
    gpus = [p for p in system.pci if (p.class_code or "").startswith("0x03")]
    cards = [p for p in system.pci if (p.class_code or "").startswith("0x02") and p.bus_id not in seen]
    added = [
        TopoNic(bus_id=card.bus_id, cpu=card.cpu, nets=(TopoNet(name=card.bus_id, dev=number),))
        for number, card in enumerate(cards, len(system.nics))
    ]
    listed = tuple(TopoGpu(bus_id=gpu.bus_id, cpu=gpu.cpu, dev=number) for number, gpu in enumerate(gpus))
    return msgspec.structs.replace(system, gpus=listed, nics=(*system.nics, *added))


def _labels(host: Host, names: Sequence[str]) -> dict[str, str]:
    """Short labels of the NICs: those of the tool, else NIC0, NIC1 and so on."""
    told = {hca: label for label, hca in (host.nic_labels or {}).items() if hca}
    return {name: told.get(name, name if re.fullmatch(r"NIC\d+", name) else f"NIC{n}") for n, name in enumerate(names)}


def _accelerators(host: Host, seen: Distances) -> tuple[str, ...]:
    """Labels of the GPUs, or of the NPUs of a host without GPUs, by number."""
    told = [*seen.gpus, *(f"GPU{gpu.index}" for gpu in host.gpus if gpu.index is not None)]
    told = told or [f"NPU{npu.index}" for npu in host.npus]
    return tuple(sorted(dict.fromkeys(told), key=lambda label: int(label[3:]) if label[3:].isdecimal() else 0))


def _words(host: Host, seen: Distances, gpus: Sequence[str], names: Sequence[str]) -> dict[Pair, str]:
    """The word for each pair of GPUs, once, and for each GPU and NIC."""
    found: dict[Pair, str | None] = {}
    links = {pair: link for link in host.links for pair in ((link.a, link.b), (link.b, link.a))}
    for place, gpu in enumerate(gpus):
        for other in gpus[place + 1 :]:
            link = seen.links.get((gpu, other)) or links.get((gpu, other))
            told = (
                link.level or link.link_type or (f"NV{link.nvlink_count}" if link.nvlink_count else None)
                if link
                else None
            )
            found[gpu, other] = told or seen.between(gpu, other, NEWEST)
        for name in names:
            link = seen.links.get((gpu, name))
            found[gpu, name] = (link.level if link else None) or seen.to_net(gpu, name, NEWEST)
    return {pair: word for pair, word in found.items() if word}


def _far(word: str, pair: Pair, names: Sequence[str], words: Mapping[Pair, str]) -> Mark:
    if pair[1] not in names or word not in FAR:
        return ""
    return "far" if any(rank(words.get((pair[0], name))) < rank(word) for name in names) else ""


def _named(pair: Pair, labels: Mapping[str, str]) -> Pair:
    return labels.get(pair[0], pair[0]), labels.get(pair[1], pair[1])


def _devices(  # noqa: PLR0913, PLR0917  (all that tells of a device)
    host: Host, system: TopoSystem | None, gpus: Sequence[str], names: Sequence[str], labels: Mapping[str, str],
    words: Mapping[Pair, str],
) -> Iterable[Device]:  # fmt: skip
    nodes = _nodes(host, system)
    by_index = {f"GPU{gpu.index}": gpu for gpu in host.gpus}
    models = {f"NPU{npu.index}": npu.model for npu in host.npus}
    by_name = {hca.name: hca for hca in host.hcas}
    listed = {f"GPU{gpu.dev}": gpu.bus_id for gpu in system.gpus} if system else {}
    cards = {net.name: nic.bus_id for nic in system.nics for net in nic.nets} if system else {}
    for label in gpus:
        gpu = by_index.get(label) or Gpu(host=host.name)
        best = min((word for name in names if (word := words.get((label, name)))), key=rank, default=None)
        nearest = tuple(labels[name] for name in names if best and words.get((label, name)) == best)
        place = gpu.bus_id or listed.get(label)
        model = gpu.model or models.get(label)
        yield Device(label, "gpu", model, nodes.get(label), nearest, best, faults.pcie(place, host, system, gpu))
    for name in names:
        hca = by_name.get(name) or Hca(host=host.name, name=name)
        node = hca.numa_node if hca.numa_node is not None else nodes.get(name, _nearby(name, gpus, nodes, words))
        yield Device(labels[name], "nic", name, node, pcie=faults.pcie(hca.bus_id or cards.get(name), host, system))


def _nodes(host: Host, system: TopoSystem | None) -> dict[str, int]:
    """NUMA nodes of GPUs by label and of NICs by name."""
    found = {f"GPU{gpu.index}": gpu.numa_node for gpu in host.gpus if gpu.numa_node is not None}
    if system is None:
        return found
    cpus: Sequence[TopoCpu] = system.cpus

    def node(place: int | None) -> int | None:
        return cpus[place].numa_id if place is not None and place < len(cpus) else None

    told = {f"GPU{gpu.dev}": node(gpu.cpu) for gpu in system.gpus}
    told |= {net.name: node(nic.cpu) for nic in system.nics for net in nic.nets}
    return {**{name: number for name, number in told.items() if number is not None and number >= 0}, **found}


def _nearby(name: str, gpus: Sequence[str], nodes: Mapping[str, int], words: Mapping[Pair, str]) -> int | None:
    """The NUMA node of the GPUs next to a NIC whose own node is unknown; None if they are on several nodes."""
    best = min((word for gpu in gpus if (word := words.get((gpu, name)))), key=rank, default=None)
    if best is None or best in FAR:
        return None
    found = {nodes.get(gpu) for gpu in gpus if words.get((gpu, name)) == best}
    return found.pop() if len(found) == 1 else None


def _cpus(host: Host, system: TopoSystem | None) -> dict[int, str]:
    """The CPUs of each NUMA node, as the tool or the file prints them."""
    found = {gpu.numa_node: gpu.cpu_affinity for gpu in host.gpus if gpu.numa_node is not None and gpu.cpu_affinity}
    if system is not None and not found:
        found = {cpu.numa_id: cpu.affinity for cpu in system.cpus if cpu.numa_id is not None and cpu.affinity}
    return {node: text for node, text in found.items() if text}
