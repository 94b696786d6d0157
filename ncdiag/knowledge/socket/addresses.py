"""Addresses that hosts cannot use: of the wrong family, or in a network without a route."""

from __future__ import annotations

import ipaddress

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Host, Interface, Job, Rank
from ncdiag.facts.model.declared import is_closed
from ncdiag.facts.scalars import ip_address
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.addresses import CONNECT_FAILURES, peer_ip
from ncdiag.facts.vocabulary.interfaces import ip as ip_of
from ncdiag.facts.vocabulary.interfaces import is_link_local, is_loopback, is_virtual
from ncdiag.knowledge.socket.choice import inside_reason, own_choice
from ncdiag.knowledge.socket.reach import Meeting, Waiting

_WIDEST = 16
"""The number of host bits of the largest network that hosts of a job usually share."""


@derived
def unrouted_peers(host: Host, view: View) -> tuple[str, ...] | None:
    """Bootstrap addresses of other hosts for which this host has neither a network nor a route.

    The kernel's answer to ``ip route get`` decides where it is known. Where the interfaces with prefix lengths, or the
    routes, were not shown: addresses that it failed to reach from an interface of another name in another network; None
    without any.
    """
    answers = _kernel_answers(host)
    wanted = _wanted(host, view) if answers else set()  # computed only where needed: it holds all others for each host
    asked = {ip: sends for ip, sends in answers.items() if ip in wanted}
    if asked:
        view.note(host, "route_answers")
    if asked and (refused := tuple(ip for ip, sends in asked.items() if not sends)):
        return refused
    own = [f"{a.ip}/{a.prefix_len}" for i in host.interfaces for a in i.addresses or () if a.prefix_len is not None]
    if not own or not is_closed(host, "routes"):
        unreached = tuple(ip for ip in _unreached(host, view) if ip not in asked)
        return unreached or (() if asked.keys() >= wanted and (answers or not _wants_any(host, view)) else None)
    networks = [(network, False) for network in own]
    networks += [(route.destination, bool(route.refuses)) for route in host.routes]
    known = meeting(view.job, view)
    peers = {ip: other for ip in known.lost(networks) if ip not in asked and (other := known.other(ip, host.name))}
    for peer in peers.values():
        view.note(peer.fact, peer.field)
    refusing = [
        route for route in host.routes if route.refuses and any(_is_inside(ip, route.destination) for ip in peers)
    ]
    for route in (refusing or host.routes)[:1] if peers else ():
        view.note(route)
    return tuple(peers) if known.hosts - {host.name} else None


@derived
def meeting(job: Job, view: View) -> Meeting:
    """The addresses at which hosts listen: a rank's address, else the address that NCCL would choose there."""
    waiting: dict[str, list[Waiting]] = {}
    for ip, rank in bootstrap_ranks(job, view).items():
        waiting.setdefault(ip, []).append(Waiting(rank.host, rank, "bootstrap_interface"))
    for ip, interface in chosen_addresses(job, view).items():
        waiting.setdefault(ip, []).append(Waiting(interface.host, interface, "addresses"))
    return Meeting(waiting)


@derived
def chosen_addresses(job: Job, view: View) -> dict[str, Interface]:
    """The address that NCCL would announce on each host without known ranks, with its interface."""
    found: dict[str, Interface] = {}
    for host in job.hosts:
        for interface in own_choice(host, view) or ():
            ip = ip_of(interface, view)
            if ip is not None and not inside_reason(interface, view):
                found.setdefault(ip, interface)
    return found


def _kernel_answers(host: Host) -> dict[str, bool]:
    """Whether the kernel of the host would send to an address, by address."""
    return {answer.address: answer.interface is not None for answer in host.route_answers or ()}


def _wanted(host: Host, view: View) -> set[str]:
    """The addresses that the host must reach: its peers' for the bootstrap, and those that it failed to reach."""
    ranks = bootstrap_ranks(view.job, view)
    failed = {peer_ip(event, view) for event in view.events_on(host.name, CONNECT_FAILURES)}
    return {ip for ip, rank in ranks.items() if rank.host != host.name} | {ip for ip in failed if ip is not None}


def _wants_any(host: Host, view: View) -> bool:
    """Does the host have to reach any address?"""
    ranks = bootstrap_ranks(view.job, view)
    return any(rank.host != host.name for rank in ranks.values()) or bool(
        {peer_ip(event, view) for event in view.events_on(host.name, CONNECT_FAILURES)} - {None}
    )


_OF_ITS_OWN = (is_virtual, is_loopback, is_link_local)


def _unreached(host: Host, view: View) -> tuple[str, ...]:
    """Peers on other interfaces in other networks to which connections of this host failed."""
    events = list(view.events_on(host.name, CONNECT_FAILURES))
    if not events:
        return ()
    ranks = bootstrap_ranks(view.job, view)
    own_ip = bootstrap_addresses(view.job, view).get(host.name)
    own = (own_ip, ranks[own_ip]) if own_ip else None
    found: dict[str, None] = {}
    for event in events:
        ip = peer_ip(event, view)
        peer = ranks.get(ip or "")
        if own and ip is not None and peer is not None and peer.host != host.name and _are_apart(own, (ip, peer), view):
            found.setdefault(ip)
            view.note(event)
            view.note(own[1], "bootstrap_interface")
            view.note(peer, "bootstrap_interface")
    return tuple(found)


def _are_apart(one: tuple[str, Rank], other: tuple[str, Rank], view: View) -> bool:
    """Do the interfaces have different names and addresses without a common network of the usual sizes?

    An interface that leads nowhere (a bridge, a VPN, loopback) is a separate fault.
    """
    (ip, rank), (peer_ip, peer) = one, other
    used = [r.bootstrap_interface for r in (rank, peer) if r.bootstrap_interface is not None]
    if any(fault(interface, view) for interface in used for fault in _OF_ITS_OWN):
        return False
    names = {interface.name for interface in used}
    return len(names) > 1 and not _is_inside(peer_ip, f"{ip}/{_WIDEST}")


@derived
def separation_text(host: Host, view: View) -> str:
    """What prevents the host from reaching its peers, in words."""
    lost = ", ".join(unrouted_peers(host, view) or ())
    refused = {ip for ip, sends in _kernel_answers(host).items() if not sends}
    if is_closed(host, "routes") or refused.intersection(unrouted_peers(host, view) or ()):
        return f"{host.name} has no route to {lost}, where its peers wait"
    own = bootstrap_addresses(view.job, view).get(host.name)
    rank = bootstrap_ranks(view.job, view).get(own or "")
    used = (
        rank.bootstrap_interface.name if rank is not None and rank.bootstrap_interface is not None else "an interface"
    )
    return f"{host.name} uses {used} and cannot reach {lost}, which is in another network"


@derived
def bootstrap_ranks(job: Job, view: View) -> dict[str, Rank]:
    """A rank for each IPv4 address that ranks announced for the bootstrap, computed once for all hosts."""
    found: dict[str, Rank] = {}
    for rank in job.ranks:
        ip = ip_of(rank.bootstrap_interface, view) if rank.bootstrap_interface is not None else None
        if ip and ":" not in ip:
            found.setdefault(ip, rank)
    return found


@derived
def bootstrap_addresses(job: Job, view: View) -> dict[str, str]:
    """The first IPv4 address that a rank of each host announced for the bootstrap, by host."""
    found: dict[str, str] = {}
    for ip, rank in bootstrap_ranks(job, view).items():
        found.setdefault(rank.host, ip)
    return found


def _is_inside(ip: str, network: str) -> bool:
    try:
        return ipaddress.ip_address(ip) in ipaddress.ip_network(network, strict=False)
    except ValueError:
        return False


@derived
def split_families(job: Job, view: View) -> str:
    """Hosts whose ranks use IPv4 and IPv6 to meet, ``n1 at 10.1.0.5, n2 at fd00:1::6``; empty for none."""
    first: dict[int, tuple[str, Rank]] = {}
    for rank in job.ranks:
        address = (
            ip_address(ip_of(rank.bootstrap_interface, view) or "") if rank.bootstrap_interface is not None else None
        )
        if address is not None and not address.is_link_local:
            first.setdefault(address.version, (str(address), rank))
    if len(first) < 2 or len({rank.host for _, rank in first.values()}) < 2:  # noqa: PLR2004
        return ""
    for _, rank in first.values():
        view.note(rank, "bootstrap_interface")
    return ", ".join(f"{rank.host} at {ip}" for ip, rank in first.values())
