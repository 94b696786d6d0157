"""RoCE ports: addresses, GID entries, packet markings and priorities."""

from __future__ import annotations

from collections import Counter

from ncdiag.facts.derived import derived, derived_of
from ncdiag.facts.model import Difference, Event, Gid, GidType, GidUse, Host, Interface, Job, Port, Rank
from ncdiag.facts.scalars import ip_address
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.job import differences
from ncdiag.facts.vocabulary.rdma import is_roce, raised_counters
from ncdiag.messages.vocabulary.reasons import error_name
from ncdiag.nccl.on_host import chosen
from ncdiag.nccl.on_host.in_force import settings_of
from ncdiag.nccl.selection.gid import GidChoice

_BY_MAKER = ("rx_stat_discard", "tx_stat_discard", "rx_total_ring_discards", "rx_total_oom_discards", "rx_dropped.nic")
"""Discarded packets as Linux's bnxt_en (Broadcom) and ice (Intel) count them."""
_DISCARDS = ("rx_discards_phy", "tx_discards_phy", "rx_crc_errors_phy", "rx_pcs_symbol_err_phy", *_BY_MAKER)
_STORMS = ("tx_pause_storm_warning_events", "tx_pause_storm_error_events")


def _of_card(interface: Interface, names: tuple[str, ...]) -> str | None:
    """The named counters of a network card that are not 0; None for an interface without a card."""
    if interface.counters is None and interface.kind in {"physical", None}:
        return None
    return raised_counters(interface.counters, names) or ""


@derived
def discard_counters(interface: Interface, view: View) -> str | None:
    """Counters of packets that the card dropped or received damaged, where not 0."""
    return _of_card(interface, _DISCARDS)


@derived
def storm_counters(interface: Interface, view: View) -> str | None:
    """Counters of pause storms, in which this host blocked its switch port for too long, where not 0."""
    return _of_card(interface, _STORMS)


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


def _interface_of(port: Port, view: View) -> Interface | None:
    host = view.host(port.host)
    name = port.netdev or next((g.netdev for g in port.gids if g.netdev), None)
    return next((i for i in host.interfaces if i.name == name), None) if host is not None and name else None


@derived
def netdev_name(port: Port, view: View) -> str:
    """The name of the port's network interface as text for messages."""
    interface = _interface_of(port, view)
    return interface.name if interface is not None else "its interface"


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
    """Does the GID table contain an entry of type RoCE v2? None when the table is not known whole."""
    if any(gid.type == "RoCE v2" for gid in port.gids):
        return True
    return False if port.gids_complete and port.gids and all(gid.type is not None for gid in port.gids) else None


@derived
def lossless_priority(host: Host, view: View) -> int | None:
    """The priority above 0 that an interface of the host keeps lossless for marked packets.

    0 for none, None if unknown.
    """
    for interface in host.interfaces:
        if interface.trust == "dscp" and any(interface.pfc or ()):
            view.note(interface)
            return next(p for p in interface.pfc or () if p)
    return 0 if any(i.trust is not None or i.pfc is not None for i in host.interfaces) else None


@derived
def unmarked_interface(host: Host, view: View) -> str | None:
    """An interface that ignores packet markings (trust pcp) or keeps no priority lossless.

    Empty without one; None where no interface's settings for markings were shown.
    """
    for interface in host.interfaces:
        if interface.trust == "pcp" or interface.pfc == ():
            view.note(interface)
            return interface.name
    return "" if any(i.trust is not None or i.pfc is not None for i in host.interfaces) else None


_MANY = 10_000
"""Discarded packets that are not the rest of an old incident."""
_DROPPED = (
    "rx_discards_phy", "rx_prio0_discards", "rx_prio0_buf_discard", "rx_prio3_discards", "rx_prio3_buf_discard",
    "tx_discards_phy", "rx_out_of_buffer", *_BY_MAKER,
)  # fmt: skip


@derived
def discards_many(job: Job, view: View) -> bool | None:
    """Did a card of the job discard many packets? None where no discards are shown."""
    counted = [
        (n, i)
        for host in job.hosts
        for i in host.interfaces
        for name in _DROPPED
        if (n := (i.counters or {}).get(name)) is not None
    ]
    for count, interface in counted:
        if count >= _MANY:
            view.note(interface, "counters")
            return True
    return False if counted else None


@derived
def lossy_interface(host: Host, view: View) -> str | None:
    """An interface that discarded many packets, with flow control off for all priorities; empty for none.

    None where no interface shows its discards, or where one with many does not show its flow control.
    """
    found: str | None = None
    for interface in host.interfaces:
        counts = [n for name in _DROPPED if (n := (interface.counters or {}).get(name)) is not None]
        if not counts:
            continue
        if max(counts) >= _MANY and interface.pfc is None:
            return None
        if max(counts) >= _MANY and not interface.pfc:
            view.note(interface, "counters")
            view.note(interface, "pfc")
            return interface.name
        found = ""
    return found


@derived
def lossy_counters(host: Host, view: View) -> str:
    """The counters of that interface that are not 0: ``rx_discards_phy 5213341``."""
    name = lossy_interface(host, view)
    counters = next((i.counters for i in host.interfaces if i.name == name), None)
    return raised_counters(counters, _DROPPED) or ""


@derived
def uses_bond(rank: Rank, view: View) -> bool | None:
    """Does the rank use a bond of two ports as an RDMA device (``mlx5_bond_0``)?"""
    if rank.net_devices is None:
        return None
    return rank.net == "IB" and any("bond" in d.name and d.link_layer == "RoCE" for d in rank.net_devices)


@derived
def gid_index_differences(job: Job, view: View) -> tuple[Difference, ...] | None:
    """The differences in the index of the RoCE v2 entry with an IPv4 address.

    None without any, where the GID tables of a host were not shown.
    """
    found = tuple(difference for difference in differences(job, view) if difference.what == "rocev2_index")
    shown = bool(job.hosts) and all(_shows_gids(host, view) for host in job.hosts)
    return found if found or shown else None


def _shows_gids(host: Host, view: View) -> bool:
    """Was a GID table of the host shown, or are none of its ports Ethernet?"""
    ports = [port for hca in host.hcas for port in hca.ports]
    return any(port.gids for port in ports) or {is_roce(port, view) for port in ports} == {False}


_MARKED = 0.01
"""The share of received packets with a congestion mark from which the fabric counts as congested."""


@derived
def is_congested(port: Port, view: View) -> bool | None:
    """Did switches mark a large share of the received packets, as they do when queues grow?"""
    counters = port.counters or {}
    marked, received = counters.get("np_ecn_marked_roce_packets"), counters.get("port_rcv_packets")
    if marked is None or not received:
        return None if marked is None else False if marked == 0 else None
    return marked / received > _MARKED


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
    """Is the local GID a link-local one (fe80::)?"""
    return use.local_gid.lower().startswith("fe80") if use.local_gid else None


_RAILS = 3
"""The number of interfaces from which one that differs is an outlier."""


@derived
def odd_rail_mtus(host: Host, view: View) -> str | None:
    """Interfaces of RoCE ports with another MTU than most, ``ens5f0np0 1500 (7 others 9000)``; empty for none.

    Active ports of one rate are compared. None where fewer than two such interfaces have a known MTU.
    """
    rails = _rails(host, view)
    if len(rails) < _RAILS - 1:
        return None
    groups: dict[float | None, list[Interface]] = {}
    for rate, interface in rails:
        groups.setdefault(rate, []).append(interface)
    for members in groups.values():
        (usual, count), *others = Counter(interface.mtu for interface in members).most_common()
        if others and len(members) >= _RAILS:
            odd = [interface for interface in members if interface.mtu != usual]
            for interface in odd:
                view.note(interface, "mtu")
            return f"{', '.join(f'{i.name} {i.mtu}' for i in odd)} ({count} others {usual})"
    return ""


def _rails(host: Host, view: View) -> list[tuple[float | None, Interface]]:
    by_name = {interface.name: interface for interface in host.interfaces}
    found = {}
    for hca in host.hcas:
        for port in hca.ports:
            interface = by_name.get(port.netdev or "")
            if interface is not None and interface.mtu and port.state == "active" and is_roce(port, view):
                found[interface.name] = (port.rate_gbps, interface)
    return list(found.values())
