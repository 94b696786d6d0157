"""What makes an Ethernet port carry RDMA well: addresses, GID entries, MTU, marks of packets, the cards listed."""

from __future__ import annotations

from ncdiag.facts.assemble_hosts import UNNAMED
from ncdiag.facts.model import Rank
from ncdiag.facts.view import View, derived


@derived
def slow_devices(rank: Rank, view: View) -> tuple[str, ...] | None:
    """Listed RDMA ports of less than half the rate of the fastest listed one; None when their rates are not known."""
    if not rank.net_devices:
        return None
    names = {part for d in rank.net_devices for part in d.name.split("+")}
    hosts = [view.host(name) for name in (rank.host, UNNAMED) if name == rank.host or not view.ranks_on(name)]
    ports = [p for h in hosts if h for hca in h.hcas for p in hca.ports if p.hca in names and p.rate_gbps]
    if len(ports) < len(names):
        return None
    fastest = max(p.rate_gbps or 0 for p in ports)
    slow = [p for p in ports if (p.rate_gbps or 0) * 2 < fastest]
    for port in slow:
        view.note(port)
    return tuple(f"{p.hca} ({p.rate_gbps:g} Gbit/s)" for p in slow)
