"""RoCE ports: their interfaces and addresses, the entries of their GID tables, and which of them NCCL chooses."""

from __future__ import annotations

import ipaddress

from ncdiag.facts.derived import derived, derived_of
from ncdiag.facts.model import Difference, Event, Gid, GidType, GidUse, Host, Interface, Job, Port
from ncdiag.facts.scalars import Version, ip_address
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.job import differences
from ncdiag.facts.vocabulary.rdma import failed_over_verbs, is_roce
from ncdiag.messages.vocabulary.reasons import error_name
from ncdiag.nccl.on_host import chosen
from ncdiag.nccl.on_host.in_force import settings_of
from ncdiag.nccl.selection.gid import GidChoice

_NO_ANSWER = 12


@derived
def unreached_over_verbs(job: Job, view: View) -> bool:
    """Did an RDMA connection get no answer: no path, or retries exceeded? A refusal comes from a peer."""
    return any(
        e.event == "ib-modify-qp-failed" or (e.event == "ib-completion-error" and e.fields.get("status") == _NO_ANSWER)
        for e in job.events
    )


@derived
def fails_from_link_local(job: Job, view: View) -> bool:
    """Do errors of RDMA connections show a link-local GID as their local one?"""
    if not unreached_over_verbs(job, view):
        return False
    return any(is_link_local(use, view) for rank in job.ranks for use in rank.gids_used)


@derived
def on_device(event: Event, view: View) -> str:
    """The device that the message names, `` of mlx5_2``; empty where it names none."""
    hca = event.fields.get("hca")
    return f" of {hca}" if hca else ""


@derived
def gid_place(event: Event, view: View) -> str:
    """The GID entry as text, ``The GID entry 5 of mlx5_2 on n1``; in a message of the other side, the peer's entry."""
    index, remote = event.fields.get("gid_index"), event.fields.get("side") == "remote"
    entry = f"The GID entry {index}" if isinstance(index, int) else "The GID"
    of = " of the peer" if remote else on_device(event, view)
    return f"{entry}{of}{f' on {event.host}' if event.host and not remote else ''}"


@derived_of("ib-modify-qp-failed", "ib-completion-error")
def starts_link_local(event: Event, view: View) -> bool:
    """Did a RoCE queue pair that failed use a link-local GID, as the header of a test shows?"""
    fields = event.fields
    return fields.get("link_layer") == "Ethernet" and str(fields.get("local_gid", "")).lower().startswith("fe80")


@derived_of("ib-modify-qp-failed", "ib-completion-error")
def joins_ipv4(event: Event, view: View) -> bool:
    """Did a queue pair fail whose GIDs hold IPv4 addresses on both sides, and of RoCE v2 as far as the index shows?

    Each address has an entry of each version, that of version 1 first: an even index mostly names one of version 1.
    """
    index = event.fields.get("gid_index")
    if isinstance(index, int) and index % 2 == 0:
        return False
    return all(_kind(str(event.fields.get(name, ""))) == _IPV4 for name in ("local_gid", "remote_gid"))


def _name_of(port: Port) -> str | None:
    return port.netdev or next((g.netdev for g in port.gids if g.netdev), None)


def _interface_of(port: Port, view: View) -> Interface | None:
    host, name = view.host(port.host), _name_of(port)
    return next((i for i in host.interfaces if i.name == name), None) if host is not None and name else None


@derived
def netdev_name(port: Port, view: View) -> str:
    """The name of the port's network interface as text for messages."""
    return _name_of(port) or "its interface"


@derived
def netdev_lacks_ip(port: Port, view: View) -> bool | None:
    """Does the interface of this port have only a link-local IP address? A bond member needs none."""
    if any(gid.ip is not None for gid in port.gids):
        return False
    interface = _interface_of(port, view)
    if interface is None or interface.addresses is None:
        return _has_link_local_alone(port, view) or None
    view.note(interface)
    found = [ip_address(a.ip) for a in interface.addresses]
    return interface.master is None and not any(a is not None and not a.is_link_local for a in found)


def _has_link_local_alone(port: Port, view: View) -> bool:
    """Does the complete GID table contain link-local entries only? The kernel adds one for every interface address."""
    if not port.gids or not port.gids_complete:
        return False
    view.note(port.gids[0])
    return all((gid.address or "").lower().startswith("fe80") for gid in port.gids)


@derived
def lacks_gids(port: Port, view: View) -> bool | None:
    """Is the whole GID table of an active RoCE port empty? None where it was not shown whole.

    In a container, entries of interfaces outside it do not appear, which another rule covers.
    """
    host = view.host(port.host)
    inside = host is not None and host.in_container is True
    if port.gids or inside or is_roce(port, view) is False or port.state not in {"active", None}:
        return False
    listed = host is not None and "show_gids" in host.complete
    if not (port.gids_complete or listed) or is_roce(port, view) is None:
        return None
    view.note(port, "gids_complete")
    return True


@derived
def has_rocev2(port: Port, view: View) -> bool | None:
    """Does the GID table contain an entry of type RoCE v2? None when the table is not known whole.

    The kernel enters each address once for each version that the port has: entry 0 or 1 is of version 2 then (Linux
    drivers/infiniband/core/roce_gid_mgmt.c). On InfiniBand, where none holds an IPv4 address, all have the name of v1.
    """
    if any(gid.type == "RoCE v2" for gid in port.gids):
        return True
    firsts = {gid.index for gid in port.gids if gid.type == "RoCE v1"}
    if firsts >= {0, 1} and any(gid.ip is not None for gid in port.gids):
        return False
    return False if port.gids_complete and port.gids and all(gid.type is not None for gid in port.gids) else None


@derived
def gid_index_differences(job: Job, view: View) -> tuple[Difference, ...] | None:
    """The differences in the index of the RoCE v2 entry with an IPv4 address.

    None without any, where the GID tables of a host were not shown.
    """
    found = tuple(difference for difference in differences(job, view) if difference.what == "rocev2_index")
    shown = bool(job.hosts) and all(_shows_gids(host, view) for host in job.hosts)
    return found if found or shown else None


@derived
def gid_kinds_cross(job: Job, view: View) -> bool:
    """Did RDMA fail, and is the index in use, or any where it is not known, another kind of GID on another host?

    NCCL uses one index on all hosts, entry 0 up to 2.20; later releases choose for each port unless an index is set.
    The line of a failed transfer names the GIDs of both ends.
    """
    if not failed_over_verbs(job, view):
        return False
    for rank in job.ranks:
        if any(_joins_kinds(use) for use in rank.gids_used):
            view.note(rank, "gids_used")
            return True
    kinds: dict[tuple[str, int, int], dict[str, Gid]] = {}
    for host in job.hosts:
        index = _index_in_use(host, view)
        ports = [port for hca in host.hcas for port in hca.ports if port.gids]
        for port in ports:
            for gid in port.gids:
                kind = _IPV4 if gid.ip is not None else _kind(gid.address)
                if kind in {_IPV4, _LINK_LOCAL} and index in {None, gid.index}:
                    place = ("", 0, gid.index) if len(ports) == 1 else (port.hca, port.number, gid.index)
                    kinds.setdefault(place, {}).setdefault(kind, gid)
    crossed = next((list(found.values()) for found in kinds.values() if len(found) > 1), [])
    for gid in crossed:
        view.note(gid)
    return bool(crossed)


def _joins_kinds(use: GidUse) -> bool:
    """Does a connection join GIDs of two kinds?"""
    kinds = {_kind(use.local_gid), _kind(use.remote_gid)}
    return len(kinds) > 1 and "" not in kinds


_IPV4, _LINK_LOCAL = "IPv4", "link-local"


def _kind(gid: str | None) -> str:
    """``IPv4``, ``IPv6`` or ``link-local`` by the address in a GID, of which a part may be masked; empty for no GID."""
    if (gid or "").lower().startswith("fe80"):
        return _LINK_LOCAL
    address = ip_address(gid or "")
    if not isinstance(address, ipaddress.IPv6Address):
        return ""
    return _IPV4 if address.ipv4_mapped is not None else "IPv6"


_CHOOSES = Version(2, 21, 0)
"""The first release of NCCL that chooses the entry by its kind."""
_NONE = -1


def _index_in_use(host: Host, view: View) -> int | None:
    """The index that NCCL uses on the host; None where no rank shows its release, `_NONE` where it chooses."""
    ranks = view.ranks_on(host.name)
    setting = view.setting(ranks[0] if ranks else host, "NCCL_IB_GID_INDEX")
    if setting is not None and setting.is_set and (setting.text or "").isdecimal():
        return int(setting.text or "")
    version = next((rank.nccl_version for rank in view.job.ranks if rank.nccl_version is not None), None)
    fixed = version.less(_CHOOSES) if version is not None else None
    return None if fixed is None else 0 if fixed else _NONE


def _shows_gids(host: Host, view: View) -> bool:
    """Was a GID table of the host shown, or are none of its ports Ethernet?"""
    ports = [port for hca in host.hcas for port in hca.ports]
    return any(port.gids for port in ports) or {is_roce(port, view) for port in ports} == {False}


def _choice(port: Port, view: View) -> GidChoice | None:
    host = view.host(port.host)
    return chosen.gid(port, view, settings_of(host, view), view.version(host)) if host is not None else None


@derived
def chosen_gid_type(port: Port, view: View) -> GidType | None:
    """The type of the GID that NCCL uses on this port with the known settings and version."""
    choice = _choice(port, view)
    if choice is None or not choice.known or choice.entry is None:
        return None
    view.note(choice.entry)
    return choice.entry.type


@derived
def chosen_gid_is_bad(port: Port, view: View) -> bool | None:
    """Is the GID entry in use empty, of RoCE v1, or without a routable address? None when it was not seen."""
    choice = _choice(port, view)
    if choice is None or not choice.known:
        return None
    if choice.entry is None:
        return True if port.gids_complete else None
    view.note(choice.entry)
    return _is_bad(choice.entry)


def _is_bad(gid: Gid) -> bool | None:
    if gid.type in {"IB", "RoCE v1"}:
        return True
    if gid.ip is not None:
        return None if gid.type is None else False
    if gid.address is not None and (gid.address.lower().startswith("fe80") or set(gid.address) <= set("0:")):
        return True
    return None if gid.type is None or gid.address is None else False


@derived
def has_routable_gid(port: Port, view: View) -> bool | None:
    """Does the port's table contain a RoCE v2 entry with a routable address?"""
    verdicts = [_is_bad(gid) for gid in port.gids]
    if False in verdicts:
        view.note(port.gids[verdicts.index(False)])
        return True
    return None if None in verdicts or not port.gids_complete else False


@derived
def shares_gid_index(job: Job, view: View) -> bool:
    """Has an index a RoCE v2 entry with an IPv4 address on every RoCE port of which a table was seen?"""
    ports = [port for host in job.hosts for hca in host.hcas for port in hca.ports if port.gids]
    ports = [port for port in ports if is_roce(port, view) is not False]
    good = [{gid.index for gid in port.gids if gid.type == "RoCE v2" and gid.ip is not None} for port in ports]
    return bool(good) and bool(set.intersection(*good))


@derived
def misses_ipv6_gid(port: Port, view: View) -> bool | None:
    """Does NCCL by default use a bad entry although the table has good ones, all of them IPv6?

    It searches for IPv4 unless NCCL_IB_ADDR_FAMILY is AF_INET6; without a match it uses entry 0.
    """
    host = view.host(port.host)
    settings = settings_of(host, view) if host is not None else {}
    pinned = settings.get("NCCL_IB_GID_INDEX", "-1") != "-1"
    if pinned or settings.get("NCCL_IB_ADDR_FAMILY") == "AF_INET6" or any(gid.ip is not None for gid in port.gids):
        return False
    good = next((gid for gid in port.gids if gid.type == "RoCE v2" and _is_bad(gid) is False), None)
    if good is None:
        return False if port.gids_complete else None
    view.note(good)
    return chosen_gid_is_bad(port, view)


@derived
def ports_without_ipv4(job: Job, view: View) -> str:
    """The RoCE ports whose shown GIDs are all IPv6 or link-local, ``mlx5_0 of n1``; empty for none."""
    ports = [port for host in job.hosts for hca in host.hcas for port in hca.ports if port.gids]
    found = [p for p in ports if p.link_layer != "InfiniBand" and all(g.ip is None and g.address for g in p.gids)]
    for port in found:
        view.note(port)
    return ", ".join(f"{port.hca} of {port.host}" for port in found)


@derived
def chosen_gid_text(port: Port, view: View) -> str:
    """The GID entry in use, as text: ``a link-local RoCE v2 address (fe80::1)``."""
    choice = _choice(port, view)
    if choice is None or not choice.known:
        return "an unknown entry"
    if choice.entry is None:
        return "an empty entry"
    gid = choice.entry
    local = "a link-local " if (gid.address or "").lower().startswith("fe80") else "a "
    return f"{local}{gid.type or 'GID'} address ({gid.ip or gid.address})"


@derived_of("ib-modify-qp-failed")
def refuses_address(event: Event, view: View) -> bool:
    """Was a queue pair refused as invalid on the step that takes the addresses, to RTR, or on an unnamed step?"""
    return error_name(event, view) == "EINVAL" and event.fields.get("next_state") in {None, "RTR"}


@derived
def gid_zero_is_good(host: Host, view: View) -> bool | None:
    """Is entry 0 of every RoCE port of this host a usable RoCE v2 address?"""
    zero = [g for d in host.hcas for p in d.ports for g in p.gids if g.index == 0]
    verdicts = [_is_bad(g) for g in zero]
    if not verdicts or None in verdicts:
        return None
    return not any(verdicts)


@derived
def is_link_local(use: GidUse, view: View) -> bool | None:
    """Is the local GID a link-local one (fe80::), and none of InfiniBand, whose prefix is the same?"""
    if not use.local_gid:
        return None
    address = ip_address(use.local_gid)
    if address is None or not use.local_gid.lower().startswith("fe80"):
        return use.local_gid.lower().startswith("fe80")
    return address.packed[_IN_THE_MIDDLE] != _OF_A_PORT


_IN_THE_MIDDLE, _OF_A_PORT = slice(11, 13), b"\x03\x00"
"""What Mellanox and NVIDIA have between maker and number in the GUID of a port; in a MAC address it is ff:fe."""
