"""RoCE under load: discarded packets, pauses, congestion marks, and the priorities that flow control protects."""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Host, Interface, Job, Port, Rank
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.rdma import raised_counters

_BY_MAKER = ("rx_stat_discard", "tx_stat_discard", "rx_total_ring_discards", "rx_total_oom_discards", "rx_dropped.nic")
"""Discarded packets as Linux's bnxt_en (Broadcom) and ice (Intel) count them."""
_DISCARDS = ("rx_discards_phy", "tx_discards_phy", "rx_crc_errors_phy", "rx_pcs_symbol_err_phy", *_BY_MAKER)
_CARRIED = lazy_regex(r"[rt]x_prio([0-7])_(?:bytes|packets)$")
"""Traffic of a priority, as mlx5 counts it: packets that NCCL does not mark are in priority 0."""
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
def default_queue_only(host: Host, view: View) -> str | None:
    """How all traffic of a card is in priority 0, from which it discards packets; empty where another one carries some.

    None where no counters of priorities were shown.
    """
    for fact, counters in (*((i, i.counters) for i in host.interfaces), (host, host.unnamed_nic_counters)):
        carried: dict[int, int] = {}
        for name, count in (counters or {}).items():
            found = _CARRIED.match(name)
            if found is not None:
                carried[int(found[1])] = carried.get(int(found[1]), 0) + count
        if counters is None or not carried.get(0) or len(carried) == 1:
            continue
        dropped = counters.get("rx_prio0_discards") or counters.get("rx_prio0_buf_discard")
        others = sorted(priority for priority, count in carried.items() if priority and not count)
        if dropped and len(others) == len(carried) - 1:
            view.note(fact, "unnamed_nic_counters" if fact is host else "counters")
            return f"{dropped} packets discarded in priority 0, no byte in priority {others[0]}"
        return ""
    return None


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
