"""Interfaces that ranks announce or require and that cannot carry a job: bridges, loopback, IPoIB, no carrier."""

from __future__ import annotations

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Advertised, Host, Interface, Job, Rank
from ncdiag.facts.model.declared import is_closed
from ncdiag.facts.scalars import ip_address
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.addresses import LIBVIRT_ADDRESS, told_owners
from ncdiag.facts.vocabulary.addresses import advertised as all_advertised
from ncdiag.facts.vocabulary.interfaces import DEAD_STATES, ip, is_dead, is_loopback, likely_kind
from ncdiag.facts.vocabulary.job import is_multi_host
from ncdiag.facts.vocabulary.rdma import ranks_of
from ncdiag.nccl.on_host.in_force import settings_of
from ncdiag.nccl.on_host.nameless import of_like
from ncdiag.nccl.selection import sockets
from ncdiag.nccl.vocabulary.filters import list_of

_DOCKER = "docker"
"""The prefix of the names of Docker's bridges."""


@derived
def on_docker_bridge(advertised: Advertised, view: View) -> bool:
    """Is the address on docker0, or one that another host could not reach and whose interface is unknown?

    A site may number its hosts in 172.17.0.0/16; an interface of another name without a failure is such a host. False
    where only one host was seen, whose processes may fail to reach each other within one container.
    """
    if advertised.interface is not None:
        return advertised.interface.startswith(_DOCKER)
    if not advertised.failed:
        return False
    hosts = {rank.host for rank in view.job.ranks}
    return len(hosts) > 1 or (view.job.nhosts or 0) > 1


@derived
def is_docker0_of_a_host(advertised: Advertised, view: View) -> bool:
    """Has docker0 of a host the address that could not be reached? No container has that interface."""
    if not advertised.failed:
        return False
    bridge = view.remembered(("Docker's bridges",), lambda: _bridges(view.job)).get(advertised.ip or "")
    if bridge is not None:
        view.note(bridge)
    return bridge is not None


def _bridges(job: Job) -> dict[str, Interface]:
    """The bridges of Docker on all hosts, by address."""
    bridges = (each for host in job.hosts for each in host.interfaces if each.name.startswith(_DOCKER))
    return {address.ip: bridge for bridge in bridges for address in bridge.addresses or ()}


@derived
def has_one_interface(host: Host, view: View) -> bool | None:
    """Does exactly one interface besides loopback have an address? None while others may exist that were not shown."""
    others = [i for i in host.interfaces if not is_loopback(i, view)]
    if sum(ip(i, view) is not None for i in others) > 1:
        return False
    unknown = any(i.addresses is None for i in others)
    if unknown or not is_closed(host, "interfaces"):
        return None
    return sum(ip(i, view) is not None for i in others) == 1


@derived
def ipoib_trouble(advertised: Advertised, view: View) -> str | None:
    """The problem with an IPoIB interface at which ranks meet; empty for none, None where its kind is not known.

    Either others could not reach its address, or another host has no such interface and uses another one.
    """
    if advertised.role not in {"bootstrap", "oob"}:
        return ""
    if advertised.kind != "ipoib":
        return None if advertised.kind is None else ""
    if advertised.failed:
        view.note(advertised)
        return f"connections to {advertised.ip} fail"
    other = next((rank for rank in view.job.ranks if _meets_elsewhere(rank, advertised, view)), None)
    if other is None or other.bootstrap_interface is None:
        return ""
    view.note(advertised)
    view.note(other, "bootstrap_interface")
    return f"{other.host} waits at {other.bootstrap_interface.name}"


def _meets_elsewhere(rank: Rank, advertised: Advertised, view: View) -> bool:
    interface = rank.bootstrap_interface
    if interface is None or rank.host == advertised.host:
        return False
    return likely_kind(interface, view) not in {None, "ipoib"}


_LIBVIRT_NAME = "libvirt's bridge"


@derived
def told_as(advertised: Advertised, view: View) -> str:
    """The interface and host, ``veth5a3f1c2 on n1``, or the address where no interface was named."""
    if advertised.interface is None:
        told = told_owners(view.job, view).get(advertised.ip or "")
        name = _LIBVIRT_NAME if advertised.ip == LIBVIRT_ADDRESS else told.fields.get("owner") if told else None
        return f"{advertised.ip} ({name})" if name else str(advertised.ip)
    return f"{advertised.interface} on {advertised.host}"


@derived
def is_only_way(item: Advertised, view: View) -> bool:
    """Is the interface known to be the only one of its host that has an address, as in a pod?"""
    host = view.host(item.host)
    return host is not None and has_one_interface(host, view) is True


@derived
def is_misleading_loopback(advertised: Advertised, view: View) -> bool | None:
    """Does a rank announce loopback in a job of several hosts, or before an interface that reaches them?

    NCCL uses lo by default only where there is nothing else, so a list with both was configured. None when lo alone was
    announced and the number of hosts is not known.
    """
    address = ip_address(advertised.ip) if advertised.ip else None
    if address is None or not address.is_loopback:
        return False
    several = is_multi_host(view.job, view)
    if several is None and advertised.role == "data":
        mine = (a for a in all_advertised(view.job, view) if a.host == advertised.host and a.role == "data")
        others = [found for a in mine if a.ip and (found := ip_address(a.ip)) is not None]
        return True if any(not other.is_loopback for other in others) else None
    return several


_LISTS = ("NCCL_SOCKET_IFNAME", "NCCL_OOB_NET_IFNAME")


@derived
def is_asked_for(interface: Interface, view: View) -> bool | None:
    """Do ranks of the host use the interface?

    Where no rank shows it: does a variable name it, and no interface that has a link?
    """
    host = view.host(interface.host)
    if host is None:
        return None
    for rank in ranks_of(host, view):
        if rank.bootstrap_interface is not None:
            view.note(rank, "bootstrap_interface")
            return rank.bootstrap_interface.name == interface.name
    return _is_named(host, interface, view)


def _is_named(host: Host, interface: Interface, view: View) -> bool | None:
    known = False
    for name in _LISTS:
        found = list_of(host, name, view)
        if found is None:
            continue
        setting, names = found
        known = True
        if names.exclude or names.matching(interface.name) is None:
            continue
        others = [other for other in host.interfaces if names.matching(other.name) is not None]
        if all(is_dead(other, view) for other in others):
            view.note(setting)
            return True
    return False if known else None


@derived
def link_text(interface: Interface, view: View) -> str:
    """The state of the link as printed: ``down``, ``no carrier``."""
    if interface.operstate in DEAD_STATES:
        return str(interface.operstate)
    return "switched off" if interface.up is False else "no carrier"


@derived
def socket_filter_matches_nothing(host: Host, view: View) -> bool | None:
    """Does NCCL_SOCKET_IFNAME leave no interface on this host: by NCCL's own message, else by the interfaces?

    None where neither decides, or where it is not known whether the variable is set.
    """
    for event in view.events_on(host.name, ["no-socket-interface"]):
        view.note(event)
        return True
    if any(r.bootstrap_interface is not None for r in view.ranks_on(host.name)):
        return False
    for interface in host.interfaces:
        view.note(interface)
    if not is_closed(host, "interfaces") or view.setting(host, "NCCL_SOCKET_IFNAME") is None:
        return None
    return of_like(host, view, "no interface", _finds_none)


@derived
def socket_filter_matches_elsewhere(host: Host, view: View) -> bool | None:
    """Does the list of interfaces of this host match an interface on another one? None where no other one shows it."""
    own = view.setting(host, "NCCL_SOCKET_IFNAME")
    if own is None:
        return None
    if own.text in matching_lists(view.job, view):
        return True
    shown = [socket_filter_matches_nothing(other, view) for other in view.job.hosts]
    return False if len(shown) > 1 and None not in shown else None


@derived
def matching_lists(job: Job, view: View) -> frozenset[str | None]:
    """The values of NCCL_SOCKET_IFNAME that match an interface on some host."""
    matching = [host for host in job.hosts if socket_filter_matches_nothing(host, view) is False]
    settings = [view.setting(host, "NCCL_SOCKET_IFNAME") for host in matching]
    return frozenset(setting.text for setting in settings if setting is not None)


def _finds_none(host: Host, view: View) -> bool | None:
    choice = sockets.bootstrap(host.interfaces, settings_of(host, view), view.version(host))
    return choice.error is not None if choice.known else None
