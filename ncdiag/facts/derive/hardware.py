"""Devices that run below what they can do: PCIe and NVLink, ports slower than their equals, clocks held down."""

from __future__ import annotations

from ncdiag.facts.model import TopoLink
from ncdiag.facts.view import View, derived

DISABLED_BY_KEY = "DR"
_NO_PEER_ACCESS = frozenset({"CNS", "GNS", "TNS", "NS", DISABLED_BY_KEY})
"""Not supported by the chipset, the GPU, the topology, or at all, or disabled by a registry key of the driver, in the
words of ``nvidia-smi topo -p2p``."""
SIBLINGS = 4
"""Ports of one model from which a single slower one stands out."""


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
