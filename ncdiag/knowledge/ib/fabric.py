"""Links of the InfiniBand fabric, as tools that ask all switches and adapters list them."""

from __future__ import annotations

from collections.abc import Iterator

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Job
from ncdiag.facts.model.fabric import FabricLink, FabricNode
from ncdiag.facts.view import View

_PHYSICAL = (
    "SymbolErrorCounter", "LinkErrorRecoveryCounter", "LocalLinkIntegrityErrors", "ExcessiveBufferOverrunErrors",
    "PortRcvErrors",
)  # fmt: skip
"""Counters of faults of a cable, module or port; the others count congestion, routing or maintenance."""
_SHOWN = 3


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
    for node, link in _links(job, view):
        listed = listed or link.errors is not None
        counts = {name: count for name, count in (link.errors or {}).items() if name in _PHYSICAL and count}
        if counts:
            worst = max(counts, key=lambda name: (-_PHYSICAL.index(name), name))
            found.append(f"{_place(node, link)} ({worst} {counts[worst]})")
    return _listed(found) if listed else None


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
    here = f"{node.name or node.guid} port {link.port}"
    return f"{here} to {link.peer_name} port {link.peer_port}" if link.peer_name else here


def _listed(found: list[str]) -> str:
    found = list(dict.fromkeys(found))
    rest = len(found) - _SHOWN
    return ", ".join(found[:_SHOWN]) + (f" and {rest} more" if rest > 0 else "")
