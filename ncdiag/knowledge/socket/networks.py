"""IP networks that hosts of one job lay out differently."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Address, Interface, Job
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.interfaces import ip, leads_out
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


@derived
def compared_hosts(job: Job, view: View) -> str:
    """``n1, n2``: the hosts that were looked at, where there are several."""
    names = [host.name for host in job.hosts if host.looked_at]
    return ", ".join(names) if len(names) > 1 else ""


@derived
def meeting_points(job: Job, view: View) -> str:
    """``eth0 10.1.0.5 (n1), eth0 10.1.0.6 (n2)``: over what hosts would meet, where several tell it."""
    found = [(i, host) for host in job.hosts if host.looked_at for i in own_choice(host, view) or ()]
    return ", ".join(f"{i.name} {ip(i, view)} ({host.name})" for i, host in found) if len(found) > 1 else ""


@derived
def compared_releases(job: Job, view: View) -> str:
    """``2.21.5 (n1), 2.20.5 (n2)``: the releases of NCCL of hosts that were looked at, where several tell theirs."""
    found = [f"{version} ({host.name})" for host in job.hosts if host.looked_at and (version := view.version(host))]
    return ", ".join(found) if len(found) > 1 else ""
