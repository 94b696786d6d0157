"""IP networks that hosts of one job lay out differently."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Address, Interface, Job
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.interfaces import leads_out
from ncdiag.knowledge.socket.choice import own_choice

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@derived
def prefix_difference(job: Job, view: View) -> str:
    """``eth0 of n1 is in 10.5.0.0/24, eth0 of n2 in 10.5.0.0/16``; empty where hosts agree on their networks.

    Compared are interfaces of one name, and those over which the ranks would meet.
    """
    placed = list(_placed(job, view))
    for place, (one, left) in enumerate(placed):
        for other, right in placed[place + 1 :]:
            if one.host != other.host and _are_peers(one, other, view) and _disagree(left, right):
                view.note(one, "addresses")
                view.note(other, "addresses")
                return f"{one.name} of {one.host} is in {left[1]}, {other.name} of {other.host} in {right[1]}"
    return ""


def _placed(job: Job, view: View) -> Iterator[tuple[Interface, tuple[Address, Network]]]:
    for host in job.hosts:
        for interface in host.interfaces:
            for address in interface.addresses or () if leads_out(interface, view) else ():
                network = _network(address)
                if network is not None and not network.is_link_local:
                    yield interface, (address, network)


def _network(address: Address) -> Network | None:
    if address.prefix_len is None:
        return None
    try:
        return ipaddress.ip_network(f"{address.ip.split('%')[0]}/{address.prefix_len}", strict=False)
    except ValueError:
        return None


def _are_peers(one: Interface, other: Interface, view: View) -> bool:
    chosen = all(i in (own_choice(host, view) or ()) for i in (one, other) if (host := view.host(i.host)) is not None)
    return chosen or one.name == other.name


def _disagree(left: tuple[Address, Network], right: tuple[Address, Network]) -> bool:
    """Is one address in the network of the other, and the networks differ?"""
    (one, mine), (other, theirs) = left, right
    if mine == theirs or mine.version != theirs.version:
        return False
    inside = ipaddress.ip_address(one.ip) in theirs or ipaddress.ip_address(other.ip) in mine
    return bool(inside)
