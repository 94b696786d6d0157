"""The addresses that ranks announce to each other, from all kinds of lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Advertised, Event, Interface, Job, Rank
from ncdiag.facts.scalars import ip_address
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.interfaces import ip as ip_of
from ncdiag.facts.vocabulary.interfaces import is_virtual, likely_kind

CONNECT_FAILURES = ("socket-connect-failed", "socket-connect-retry", "socket-connect-exhausted")
"""Events that report a peer that could not be reached."""
STORE_UNREACHED = frozenset({"c10d-connect-failed", "c10d-connect-timeout"})
"""Events of processes that could not reach the store at which the ranks of a job meet."""
LIBVIRT_ADDRESS = "192.168.122.1"
"""The address that libvirt gives its bridge on every host by default (its network ``default``)."""


@derived
def advertised(job: Job, view: View) -> tuple[Advertised, ...]:
    """Every address that a rank announced (bootstrap, socket data, OOB) or to which a connection failed."""
    failed = {ip for e in job.events if e.event in CONNECT_FAILURES and (ip := peer_ip(e, view))}
    found: dict[tuple[str | None, str, str | None, str | None], Advertised] = {}
    for rank in (rank for rank in job.ranks if is_of_job(rank, view)):
        for item in _of_rank(rank, view, failed):
            found.setdefault((item.host, item.role, item.interface, item.ip), item)
    for event in job.events:
        ip = peer_ip(event, view)
        if ip and event.event in CONNECT_FAILURES:
            told = told_owners(job, view).get(ip)
            lines = {**event.provenance, **({"owner": told.provenance[""]} if told and "" in told.provenance else {})}
            virtual = True if ip == LIBVIRT_ADDRESS or told or virtual_ips(job, view).get(ip) else None
            item = Advertised(ip=ip, role="peer", failed=True, rank=event.rank, virtual=virtual, provenance=lines)
            found.setdefault((None, "peer", None, ip), item)
    return tuple(found.values())


@derived
def told_owners(job: Job, view: View) -> dict[str, Event]:
    """The addresses that a person or a message says belong to a virtual interface, each with that event."""
    return {str(event.fields.get("address")): event for event in job.events if event.event == "virtual-address-told"}


@derived
def virtual_ips(job: Job, view: View) -> dict[str, bool]:
    """The addresses of the interfaces that were seen; True for those that only virtual interfaces have."""
    found: dict[str, bool] = {}
    for host in job.hosts:
        for interface in host.interfaces:
            virtual = bool(is_virtual(interface, view))
            for address in interface.addresses or ():
                ip = address.ip.partition("%")[0]
                found[ip] = virtual and found.get(ip, True)
    return found


@derived
def is_of_job(rank: Rank, view: View) -> bool:
    """Does the rank belong to the job? False for a single query of the library on a host that ncdiag itself read."""
    host = view.host(rank.host)
    return host is None or not host.looked_at or rank.rank is not None or rank.nranks is not None


@derived
def aimed_at(job: Job, view: View) -> tuple[Advertised, ...]:
    """The addresses to which a connection failed, computed once for all hosts."""
    return tuple(item for item in advertised(job, view) if item.role == "peer")


def _of_rank(rank: Rank, view: View, failed: set[str]) -> Iterator[Advertised]:
    if rank.bootstrap_interface is not None:
        yield _item(rank, rank.bootstrap_interface, "bootstrap", view, failed)
    if rank.net in {None, "Socket"} or ofi_failed(view.job, view):
        for interface in rank.socket_interfaces or ():
            yield _item(rank, interface, "data", view, failed)
    if rank.oob_interface is not None:
        yield _item(rank, rank.oob_interface, "oob", view, failed)


Role = Literal["bootstrap", "data", "oob"]
_FIELD: dict[Role, str] = {"bootstrap": "bootstrap_interface", "data": "socket_interfaces", "oob": "oob_interface"}


def _item(rank: Rank, interface: Interface, role: Role, view: View, failed: set[str]) -> Advertised:
    ip = ip_of(interface, view)
    span = rank.provenance.get(_FIELD[role]) or interface.provenance.get("")
    return Advertised(
        ip=ip,
        interface=interface.name,
        kind=likely_kind(interface, view),
        virtual=is_virtual(interface, view),
        host=rank.host,
        rank=rank.rank,
        role=role,
        failed=ip in failed,
        provenance={"": span} if span else {},
    )


@derived
def ofi_failed(job: Job, view: View) -> bool:
    """Did the OFI plugin start and then fail, so that the network it announced is not the one in use?"""
    return any(event.event in {"ofi-no-provider", "ofi-init-failed"} for event in job.events)


@derived
def peer_ip(event: Event, view: View) -> str | None:
    """The address in ``peer`` (``10.0.0.2<4567>``, ``fe80::1%eth0<0>``, ``[fe80::1]:4567``), without port and zone.

    None for a host name.
    """
    if not event.peer:
        return None
    text = event.peer.split("<", 1)[0]
    if text.startswith("["):
        text = text[1:].split("]", 1)[0]
    elif text.count(":") == 1:
        text = text.split(":", 1)[0]
    text = text.split("%", 1)[0]
    return text if ip_address(text) else None
