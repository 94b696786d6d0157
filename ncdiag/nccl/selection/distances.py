"""The distances between GPUs and NICs of a host as NCCL's path types, from a topology file, nvidia-smi or /sys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from ncdiag.facts.model import Host, TopoLink, TopoSystem
from ncdiag.facts.scalars import Version
from ncdiag.nccl import paths
from ncdiag.nccl.selection import graph as graphs
from ncdiag.nccl.selection import topology
from ncdiag.nccl.selection.graph import Graph, Node, Path
from ncdiag.nccl.selection.topology import Net

_FAR = frozenset({"PXB", "PHB", "SYS"})
"""Types of PCI paths to which NCCL prefers a path through another GPU, which has fewer links or a better type."""

C2C_THEN_PCI = Version(2, 27)
"""From this release on a path over C2C and the CPU's host bridge to its nearest NICs has a separate type, P2C."""
CHANGES = (*graphs.CHANGES, C2C_THEN_PCI)

_MOST_DEVICES, _MOST_PCI = 192, 8192
"""The largest numbers of GPUs and NICs, and of PCI functions, that are searched; no host has more."""


class Distances(msgspec.Struct, frozen=True):
    """Paths between the ``gpus`` and to the ``nets`` of a host; ``source`` is a phrase for where they come from.

    ``links`` are the path names of nvidia-smi or of NCCL's log by pair; ``graph`` is built from a file or /sys, for the
    others. ``through_gpus``: may a path lead through another GPU (not with NCCL_NVB_DISABLE)? ``knows_nvlink`` is False
    where GPUs may have NVLinks that were not seen; a path to a NIC never uses one (ncclTopoSetPaths).
    """

    source: str
    gpus: tuple[str, ...] = ()
    nets: tuple[str, ...] = ()
    links: Mapping[tuple[str, str], TopoLink] = {}
    graph: Graph | None = None
    through_gpus: bool = True
    knows_nvlink: bool = True

    def between(self, one: str, other: str, version: Version) -> str | None:
        """Return the path type between two GPUs, in the names of that release; None when it was not seen."""
        link = self.links.get((one, other)) or self.links.get((other, one))
        if link is not None and (found := word(link, version)) is not None:
            return "NVB" if found in _FAR and self._by_nvlink(one, other, version) else found
        if not self.knows_nvlink:
            return None
        path = self.path(Node("gpu", one), Node("gpu", other), version)
        return path.type if path is not None else None

    def to_net(self, gpu: str, net: str, version: Version) -> str | None:
        """Return the path type between a GPU and a network device; None when it was not seen."""
        link = self.links.get((gpu, net))
        if link is not None and (found := word(link, version)) is not None:
            return found
        path = self.path(Node("gpu", gpu), Node("net", net), version)
        if path is None or path.type not in {"PHB", "SYS"} or version < C2C_THEN_PCI or self.graph is None:
            return path.type if path is not None else None
        return "P2C" if self._by_c2c(Node("gpu", gpu), Node("net", net), version) else path.type

    def path(self, one: Node, other: Node, version: Version) -> Path | None:
        """Return the path in the graph; None without a graph or a path, and for releases that are not simulated."""
        if self.graph is None or version < graphs.SIMULATED or one not in self.graph.links:
            return None
        return self.graph.paths(one, version, through_gpus=self.through_gpus).get(other)

    def _by_nvlink(self, one: str, other: str, version: Version) -> bool:
        """Does a third GPU have NVLinks to both?"""
        if version < graphs.SIMULATED or not self.through_gpus:
            return False
        known = ((self.links.get((one, gpu)), self.links.get((gpu, other))) for gpu in self.gpus)
        return any(a and b and word(a, version) == word(b, version) == "NVL" for a, b in known)

    def _by_c2c(self, gpu: Node, net: Node, version: Version) -> bool:
        """Is the GPU connected to the CPU by C2C, the NIC attached to the same CPU, and no other NIC nearer?"""
        assert self.graph is not None  # noqa: S101  (a type for the checker)
        mine = self.graph.paths(gpu, version)
        cpu = min((n for n in self.graph.of("cpu") if n in mine), key=lambda n: (-mine[n].bw, mine[n].hops))
        joined = mine[cpu].type == "C2C" and self.graph.paths(net, version)[cpu].type == "PHB"
        return joined and net in nearest([(n, mine[n]) for n in self.graph.of("net") if n in mine], version)


def nearest(found: Sequence[tuple[Node, Path]], version: Version) -> list[Node]:
    """Return the nodes with the widest path, and of these the nearest (ncclTopoGetLocal, src/graph/topo.cc)."""
    types = paths.path_types(version)
    ranked = [((-path.bw, types.index(path.type)), node) for node, path in found]
    best = min((rank for rank, _ in ranked), default=None)
    return [node for rank, node in ranked if rank == best]


def word(link: TopoLink, version: Version) -> str | None:
    """Return NCCL's path type for nvidia-smi's: NVLinks are NVL; NODE is PHB since 2.6 (one CPU for each NUMA node)."""
    if link.path_type:
        return link.path_type
    level = link.level or ("NV" if link.nvlink_count else "")
    if level.startswith("NV"):
        return "NVL"
    if level == "NODE" and "NODE" not in paths.path_types(version):
        return "PHB"
    if level == "SYS" and "SYS" not in paths.path_types(version):
        return "SOC"
    return level or None


def distances(
    host: Host, system: TopoSystem | None, nets: Sequence[Net], *, through_gpus: bool = True
) -> Distances | None:
    """Return the known distances of a host; ``system`` is its topology file, ``nets`` its NICs for the PCI tree.

    A file takes precedence, as in NCCL; then nvidia-smi's matrix, then /sys. None when none of them was seen.
    """
    found = _known(host, system, nets)
    return msgspec.structs.replace(found, through_gpus=through_gpus) if found is not None else None


def _known(host: Host, system: TopoSystem | None, nets: Sequence[Net]) -> Distances | None:
    of_links = {label for link in host.links for label in (link.a, link.b)}
    of_file = (*system.gpus, *system.nics) if system is not None else ()
    functions = system.pci if system is not None else host.pci
    if max(len(of_file), len(host.gpus) + len(nets), len(of_links)) > _MOST_DEVICES or len(functions) > _MOST_PCI:
        return None
    if system is not None and (read := topology.of_file(system)).of("gpu"):
        return _of_graph("the topology file", read)
    labels = {label: name for label, name in (host.nic_labels or {}).items() if name}
    links = {
        (labels.get(one, one), labels.get(other, other)): link
        for link in host.links
        for one, other in ((link.a, link.b), (link.b, link.a))
        if link.path_type or link.level or link.nvlink_count
    }
    tree = topology.of_tree(host, nets)
    if not any(link.path_type or link.level for link in links.values()):
        return _of_tree(host, tree)
    gpus = tuple(dict.fromkeys(name for pair in links for name in pair if name.startswith("GPU")))
    others = tuple(dict.fromkeys(name for pair in links for name in pair if not name.startswith("GPU")))
    return Distances("nvidia-smi topo -m", gpus, others, links, tree)


def _of_tree(host: Host, tree: Graph | None) -> Distances | None:
    """Distances from the PCI tree; NVLink is unknown, unless every GPU is known to have none or there is only one."""
    if tree is None:
        return None
    known = len(host.gpus) == 1 or all(gpu.nvlinks == 0 for gpu in host.gpus) or tree.of("nvs")
    if known or any(link.nvlink_count for link in host.links):
        return _of_graph("the PCI tree of /sys", tree)
    found = _of_graph("the PCI tree of /sys", tree)
    return msgspec.structs.replace(found, knows_nvlink=False)


def _of_graph(source: str, found: Graph) -> Distances:
    gpus, nets = (tuple(node.name for node in found.of(kind)) for kind in ("gpu", "net"))
    return Distances(source, gpus, nets, {}, found)
