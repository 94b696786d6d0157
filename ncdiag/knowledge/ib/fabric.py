"""Links of the InfiniBand fabric, as tools that ask all switches and adapters list them."""

from __future__ import annotations

from collections.abc import Iterator

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Job
from ncdiag.facts.model.fabric import FabricLink, FabricNode
from ncdiag.facts.view import View

_PHYSICAL = ("SymbolErrorCounter", "LinkErrorRecoveryCounter", "LocalLinkIntegrityErrors")
"""Counters of faults of a cable, module or port; the others count congestion, routing, other ports or maintenance."""
_MANY = 10
"""The threshold of each of them in infiniband-diags (etc/error_thresholds): links that come up make a few errors."""
_SHOWN = 3
_MODEL = lazy_regex(r"(?i)$|MT\d|mellanox|nvidia|connectx|infinihost|qlogic|omni-?path")
"""What adapters are called that nobody gave the name of their host."""


@derived
def fabric_links_below(job: Job, view: View) -> str | None:
    """Links that run below what both of their ends support: ``n7 mlx5_0 port 1 to leaf-a port 5 (could be 4X)``."""
    found = [
        f"{_place(node, link)} ({link.could_be[0].lower()}{link.could_be[1:]})"
        for node, link in _links(job, view)
        if link.could_be and link.state in {None, "active", "init"}
    ]
    return _listed(found) if job.fabrics else None


@derived
def fabric_link_errors(job: Job, view: View) -> str | None:
    """Links with physical errors: ``leaf-a port 7 (SymbolErrorCounter 4021)``; empty where the lists show none."""
    listed = False
    found = []
    ends = _Ends(job)
    for node, link in _links(job, view):
        listed = listed or link.errors is not None
        counts = {name: n for name, n in (link.errors or {}).items() if name in _PHYSICAL and n >= _MANY}
        if counts and ends.may_carry(node, link):
            worst = max(counts, key=lambda name: (-_PHYSICAL.index(name), name))
            found.append(f"{_place(node, link)} ({worst} {counts[worst]})")
    return _listed(found) if listed else None


class _Ends:
    """The hosts of the job, and the kind of each node, by which the ends of links are judged."""

    def __init__(self, job: Job) -> None:
        nodes = [node for fabric in job.fabrics for node in fabric.nodes]
        self._kinds = {node.guid: node.kind for node in nodes}
        self._has_peers = any(link.peer or link.peer_name for node in nodes for link in node.links)
        hosts = {rank.host.partition(".")[0] for rank in job.ranks if rank.host}
        names = [node.name for node in nodes if node.kind == "ca"]
        self._hosts = set[str]() if names and all(_MODEL.match(name or "") for name in names) else hosts

    def may_carry(self, node: FabricNode, link: FabricLink) -> bool:
        """May the link carry traffic of the job: is it between switches, or does it end at one of its hosts?

        Where no rank is known, or adapters are described by their model alone, any link may. Where the other end of a
        switch's port is not listed, none does; if the list shows no other ends at all, any may.
        """
        if not self._hosts or (node.kind == "switch" and not self._has_peers):
            return True
        ends = ((node.kind, node.name), (self._kinds.get(link.peer or ""), link.peer_name))
        return any(_host_of(name) in self._hosts for _, name in ends) or all(kind == "switch" for kind, _ in ends)


def _host_of(description: str | None) -> str:
    """The host in the description of a node: ``n7 mlx5_0`` or ``n7 HCA-1`` of an adapter."""
    return (description or "").partition(" ")[0].partition(".")[0]


def _links(job: Job, view: View) -> Iterator[tuple[FabricNode, FabricLink]]:
    """Each link once in each list: a switch and an adapter both list the one between them, and tools list it anew."""
    for fabric in job.fabrics:
        view.note(fabric, "nodes")
        seen: set[frozenset[tuple[str | None, int | None]]] = set()
        for node in fabric.nodes:
            for link in node.links:
                ends = frozenset({(node.name, link.port), (link.peer_name, link.peer_port)})
                if ends not in seen or link.errors:
                    seen.add(ends)
                    yield node, link


def _place(node: FabricNode, link: FabricLink) -> str:
    here = f"{node.name or node.guid or f'LID {node.lid}'} port {link.port}"
    return f"{here} to {link.peer_name} port {link.peer_port}" if link.peer_name else here


def _listed(found: list[str]) -> str:
    found = list(dict.fromkeys(found))
    rest = len(found) - _SHOWN
    return ", ".join(found[:_SHOWN]) + (f" and {rest} more" if rest > 0 else "")
