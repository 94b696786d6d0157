"""NCCL's graph of the GPUs, NICs, PCI switches and CPUs of a host, and the search for paths in it.

Source: ncclTopoSetPaths, src/graph/paths.cc:38-140 (v2.30.7-1), and the same function of every tag since v2.8.3-1.
Older releases search differently and are not simulated.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Literal, NamedTuple

from ncdiag.facts.scalars import Version

SIMULATED = Version(2, 8)
"""The first release whose search is simulated: it introduced paths through another GPU (NVB)."""
C2C_LINKS = Version(2, 26)
"""From this release on links between GPU and CPU have a separate type; before they counted as NVLink."""
BEST_TYPE = Version(2, 30, 4)
"""From this release on the best path type wins, before the fewest hops (found in v2.30.7-1, not in v2.30.3-1)."""
CHANGES = (SIMULATED, C2C_LINKS, BEST_TYPE)

LOCAL_BW = 5000.0
"""The bandwidth of a path within one device in GB/s (LOC_BW)."""

Kind = Literal["gpu", "net", "nic", "pci", "cpu", "nvs"]
_ORDER = ("LOC", "NVL", "NVB", "C2C", "PIX", "PXB", "PHB", "SYS")
"""The path types that a search can return, nearest first; all releases agree on their order."""
_THROUGH_GPU = 1
"""The number of hops of a path that may continue through a GPU."""


class Node(NamedTuple):
    """A node of the graph; ``name`` is ``GPU0``, ``mlx5_0``, a bus id or the number of a NUMA node."""

    kind: Kind
    name: str


class Link(NamedTuple):
    """A link to the node ``to``; ``type`` is LOC, NVL, C2C, PCI, SYS or NET, ``bw`` is in GB/s."""

    to: Node
    type: str
    bw: float


class Path(NamedTuple):
    """The path between two nodes: the type of its worst link, its lowest bandwidth in GB/s, and its number of links."""

    type: str
    bw: float
    hops: int


class Graph:
    """The nodes in the order in which they were added, and their links."""

    def __init__(self) -> None:
        """Create an empty graph."""
        self.links: dict[Node, list[Link]] = {}
        self._paths: dict[tuple[Node, Version, bool], dict[Node, Path]] = {}

    def add(self, node: Node) -> Node:
        """Add a node, unless the graph has it; returns the node."""
        self.links.setdefault(node, [])
        return node

    def join(self, one: Node, other: Node, kind: str, bw: float) -> None:
        """Add links in both directions."""
        self.one_way(one, other, kind, bw)
        self.one_way(other, one, kind, bw)

    def one_way(self, here: Node, there: Node, kind: str, bw: float) -> None:
        """Add a link; a second one of the same kind adds its bandwidth (ncclTopoConnectNodes)."""
        held = self.links.setdefault(here, [])
        same = next((n for n, link in enumerate(held) if link.to == there and link.type == kind), None)
        if same is None:
            held.append(Link(there, kind, bw))
        else:
            held[same] = held[same]._replace(bw=held[same].bw + bw)

    def of(self, kind: Kind) -> tuple[Node, ...]:
        """Return the nodes of one kind."""
        return tuple(node for node in self.links if node.kind == kind)

    def paths(self, base: Node, version: Version, *, through_gpus: bool = True) -> dict[Node, Path]:
        """Return the path from ``base`` to every node that it reaches; ``through_gpus`` False is NCCL_NVB_DISABLE."""
        key = base, version, through_gpus
        if key not in self._paths:
            self._paths[key] = self._search(*key)
        return self._paths[key]

    def _search(self, base: Node, version: Version, through_gpus: bool) -> dict[Node, Path]:  # noqa: FBT001
        found = {base: Path("LOC", LOCAL_BW, 0)}
        wave = [base]
        while wave:
            following: dict[Node, None] = {}
            for node in wave:
                path = found[node]
                for link in self._in_order(node):
                    if node != base and node.kind == "gpu" and not _goes_on(path, link, through_gpus):
                        continue
                    step = _step(node, path, link, version)
                    if _is_better(step, found.get(link.to), version):
                        found[link.to] = step
                        following[link.to] = None
            wave = list(following)
        return found

    def _in_order(self, node: Node) -> list[Link]:
        """The links of a node as NCCL sorts them: NVLink first, and links between CPUs last."""
        rank: defaultdict[str, int] = defaultdict(lambda: 1, {"NVL": 0, "SYS": 2})
        return sorted(self.links[node], key=lambda link: rank[link.type])


def _goes_on(path: Path, link: Link, through_gpus: bool) -> bool:  # noqa: FBT001
    """May the path continue through this GPU? Only over one NVLink to another GPU."""
    return through_gpus and link.type == "NVL" and link.to.kind == "gpu" and path.hops <= _THROUGH_GPU


def _step(node: Node, path: Path, link: Link, version: Version) -> Path:
    """The path extended by one link."""
    kind = {"NET": "LOC", "PCI": "PIX", "C2C": "C2C" if version >= C2C_LINKS else "NVL"}.get(link.type, link.type)
    if node.kind == link.to.kind == "pci":
        kind = "PXB"
    if link.type == "PCI" and "cpu" in {node.kind, link.to.kind}:
        kind = "PHB"
    if node.kind == "gpu" and path.type == kind == "NVL" and path.hops == _THROUGH_GPU:
        kind = "NVB"
    worst = max(path.type, kind, key=_ORDER.index)
    return Path(worst, min(path.bw, link.bw), path.hops + 1)


def _is_better(step: Path, held: Path | None, version: Version) -> bool:
    if held is None:
        return True
    if version < BEST_TYPE:  # fewer hops, or equally many and more bandwidth
        return held.hops >= step.hops and held.bw < step.bw
    mine, other = _ORDER.index(step.type), _ORDER.index(held.type)
    return (mine, -step.bw, step.hops) < (other, -held.bw, held.hops)
