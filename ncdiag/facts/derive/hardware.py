"""Devices that run below what they can do: PCIe and NVLink, ports slower than their equals, clocks held down."""

from __future__ import annotations

from collections import Counter

from ncdiag.facts.model import Port, TopoLink
from ncdiag.facts.view import View, derived

DISABLED_BY_KEY = "DR"
_NO_PEER_ACCESS = frozenset({"CNS", "GNS", "TNS", "NS", DISABLED_BY_KEY})
"""Not supported by the chipset, the GPU, the topology, or at all, or disabled by a registry key of the driver, in the
words of ``nvidia-smi topo -p2p``."""
SIBLINGS = 4
"""Ports of one model from which a single slower one stands out."""


@derived
def is_slower_than_siblings(port: Port, view: View) -> bool | None:
    """Is it the one active port that runs slower than all others of its model on this host?

    None when model or rates are not known, or when there are too few to compare.
    """
    host = view.host(port.host)
    model = {h.name: h.board_id or h.board for h in host.hcas} if host is not None else {}
    if host is None or port.state != "active" or not port.rate_gbps or not model.get(port.hca):
        return None
    equal = [p for p in view.get(host, "active_ports") if model.get(p.hca) == model[port.hca] and p.rate_gbps]
    equal = [p for p in equal if p.link_layer == port.link_layer]
    rates = Counter(p.rate_gbps for p in equal)
    if len(equal) < SIBLINGS:
        return None
    if len(rates) != 2 or rates[port.rate_gbps] != 1:  # noqa: PLR2004
        return False
    view.note(port)
    return all(port.rate_gbps <= (rate or 0) for rate in rates)


@derived
def lacks_peer_access(link: TopoLink, view: View) -> bool | None:
    """Does the driver offer no peer access between two GPUs?"""
    told = p2p_words(link)
    if link.peer_access is not None and not told & _NO_PEER_ACCESS:
        return not link.peer_access
    return bool(told & _NO_PEER_ACCESS) if told - {"U"} else None


def p2p_words(link: TopoLink) -> set[str]:
    """What ``nvidia-smi topo -p2p`` prints for a pair: reading, writing and the status as a whole."""
    return {word for word in (link.p2p_read, link.p2p_write, link.p2p_status) if word is not None}
