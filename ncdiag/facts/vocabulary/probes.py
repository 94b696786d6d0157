"""Tries of connections between hosts: what is wrong with one, and which interfaces connect."""

from __future__ import annotations

from collections import defaultdict
from typing import Literal

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Job, ProbeLink
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.interfaces import is_virtual

LinkState = Literal["fine", "ports", "large packets", "other answers", "unreachable"]


def state(link: ProbeLink) -> LinkState:
    """What is wrong with a try, the worst first."""
    if link.outcome == "other":
        return "other answers"
    if link.outcome != "connected":
        return "unreachable"
    if link.arrives is False or link.returns is False:
        return "large packets"
    return "ports" if link.ports_closed else "fine"


def is_inside(link: ProbeLink, view: View) -> bool:
    """Does the interface exist inside its host alone? So does one of which both hosts have the same address."""
    if link.address == link.peer_address:
        return True
    host = view.host(link.host)
    own = next((one for one in host.interfaces if one.name == link.interface), None) if host is not None else None
    return own is not None and bool(is_virtual(own, view))


@derived
def connecting_interfaces(job: Job, view: View) -> dict[str, tuple[str, ...]]:
    """By host the interfaces on which most of the tries from and to it went well; only hosts that were tried."""
    counts: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0])
    for link in job.probe_links:
        good = state(link) == "fine"
        for place in ((link.host, link.interface), (link.peer, link.peer_interface)):
            counts[place][good] += 1
    found: dict[str, list[str]] = {host: [] for host, _ in counts}
    for (host, interface), (failed, passed) in counts.items():
        if passed > failed:
            found[host].append(interface)
    return {host: tuple(names) for host, names in found.items()}
