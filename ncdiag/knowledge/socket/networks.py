"""IP networks whose definition differs between hosts of a job."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Address, Interface, Job
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.interfaces import ip, leads_out
from ncdiag.knowledge.socket.choice import own_choice
from ncdiag.knowledge.socket.reach import Network, parsed

Placed = tuple[Interface, Network]
"""An interface, and a network in which it has an address."""


@derived
def prefix_difference(job: Job, view: View) -> str:
    """Different prefix lengths, ``eth0 of n1 is in 10.5.0.0/24, eth0 of n2 in 10.5.0.0/16``; empty for none.

    Interfaces of one name are compared, and those over which the ranks would meet. Two different networks that share an
    address are nested, so each network is searched among those that contain it.
    """
    placed = list(_placed(job, view))
    groups: dict[str | None, dict[Network, list[int]]] = defaultdict(lambda: defaultdict(list))
    for number, (interface, network) in enumerate(placed):
        groups[interface.name][network].append(number)
        host = view.host(interface.host)
        if host is not None and any(chosen is interface for chosen in own_choice(host, view) or ()):
            groups[None][network].append(number)
    pairs = (pair for networks in groups.values() for pair in _nested(networks, placed))
    found = min(pairs, default=None)
    if found is None:
        return ""
    (one, mine), (other, theirs) = (placed[number] for number in found)
    view.note(one, "addresses")
    view.note(other, "addresses")
    return f"{one.name} of {one.host} is in {mine}, {other.name} of {other.host} in {theirs}"


def _nested(networks: Mapping[Network, Sequence[int]], placed: Sequence[Placed]) -> Iterator[tuple[int, int]]:
    """The first pair of interfaces of two hosts, for each two networks of which one contains the other."""
    lengths = {(network.version, network.prefixlen) for network in networks}
    for inner, members in networks.items():
        for version, length in lengths:
            outer = inner.supernet(new_prefix=length) if version == inner.version and length < inner.prefixlen else None
            others = networks.get(outer, ()) if outer is not None else ()
            hosts = {placed[number][0].host: number for number in reversed(members)}
            first = next((n for n in others if set(hosts) - {placed[n][0].host}), None)
            if first is not None:
                mine = min(number for host, number in hosts.items() if host != placed[first][0].host)
                yield min(first, mine), max(first, mine)


def _placed(job: Job, view: View) -> Iterator[Placed]:
    for host in job.hosts:
        for interface in host.interfaces:
            for address in interface.addresses or () if leads_out(interface, view) else ():
                network = _network(address)
                if network is not None and not network.is_link_local:
                    yield interface, network


def _network(address: Address) -> Network | None:
    return None if address.prefix_len is None else parsed(f"{address.ip.split('%')[0]}/{address.prefix_len}")


@derived
def compared_hosts(job: Job, view: View) -> str:
    """The hosts that were inspected, where there are several: ``n1, n2``."""
    names = [host.name for host in job.hosts if host.looked_at]
    return ", ".join(names) if len(names) > 1 else ""


@derived
def meeting_points(job: Job, view: View) -> str:
    """The interfaces over which hosts would meet, if several are known: ``eth0 10.1.0.5 (n1), eth0 10.1.0.6 (n2)``."""
    found = [(i, host) for host in job.hosts if host.looked_at for i in own_choice(host, view) or ()]
    return ", ".join(f"{i.name} {ip(i, view)} ({host.name})" for i, host in found) if len(found) > 1 else ""


@derived
def compared_releases(job: Job, view: View) -> str:
    """The NCCL releases of inspected hosts, where several are known: ``2.21.5 (n1), 2.20.5 (n2)``."""
    found = [f"{version} ({host.name})" for host in job.hosts if host.looked_at and (version := view.version(host))]
    return ", ".join(found) if len(found) > 1 else ""
