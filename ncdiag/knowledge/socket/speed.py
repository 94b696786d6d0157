"""The speed of TCP between hosts: links, sockets and threads, two interfaces in one network."""

from __future__ import annotations

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Host, Interface, Job, Rank
from ncdiag.facts.model.declared import is_closed
from ncdiag.facts.scalars import ip_address
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.interfaces import leads_out
from ncdiag.facts.vocabulary.rdma import failed_over_verbs
from ncdiag.facts.vocabulary.told_rates import ratio, told_rate
from ncdiag.messages.vocabulary.first_ends import mistakes

FAST_GBPS = 25.0
"""Slower RDMA ports are on-board Ethernet with RDMA support, not a fabric for training."""


@derived
def only_slow_rdma(host: Host, view: View) -> bool | None:
    """Are all RDMA ports slower than ``FAST_GBPS``? None when a rate is not known."""
    rates = [p.rate_gbps for d in host.hcas for p in d.ports]
    if not rates:
        return None
    if any(rate is not None and rate >= FAST_GBPS for rate in rates):
        return False
    return None if None in rates else True


_ASSUMED_MBPS = 10_000
_MORE = 1.2
"""The factor by which a measured speed must exceed the speed that NCCL assumes."""


@derived
def is_speed_assumed(interface: Interface, view: View) -> bool | None:
    """Does NCCL assume 10 Gbit/s because the kernel does not report the speed? None where nothing shows it."""
    for event in view.events_on(interface.host, ["interface-speed-unknown"]):
        path = str(event.fields.get("sysfs_path") or "")
        if interface.name in {event.fields.get("interface"), path.removesuffix("/speed").rpartition("/")[2]}:
            view.note(event)
            return True
    if interface.speed_untold:
        view.note(interface, "speed_untold")
        return True
    return False if interface.speed_mbps else None


@derived
def real_mbps(interface: Interface, view: View) -> int | None:
    """The speed in Mbit/s from another source: bond members, lower device, RDMA port, or iperf3."""
    host = view.host(interface.host)
    if host is None:
        return None
    below = _below(interface, host)
    if below:
        return below
    own = {address.ip for address in interface.addresses or ()}
    tests = [test for test in view.job.link_tests if test.gbps and test.local_ip in own]
    best = max(tests, key=lambda test: test.gbps or 0, default=None)
    if best is None or (best.gbps or 0) * 1000 < _MORE * _ASSUMED_MBPS:
        return None
    view.note(best, "gbps")
    return round((best.gbps or 0) * 1000)


def _below(interface: Interface, host: Host) -> int | None:
    """The total speed of a bond's members, that of a VLAN's parent, or of the RDMA port on the same link."""
    speeds = {other.name: other.speed_mbps or 0 for other in host.interfaces}
    if interface.slaves:
        return sum(speeds.get(name, 0) for name in interface.slaves) or None
    if interface.parent and speeds.get(interface.parent):
        return speeds[interface.parent]
    ports = [port for hca in host.hcas for port in hca.ports if port.netdev == interface.name and port.rate_gbps]
    return round((ports[0].rate_gbps or 0) * 1000) if ports else None


_FAST_MBPS = 25_000
_MAX_THREADS = 16
_MAX_SOCKETS = 64


@derived
def fast_socket_interface(rank: Rank, view: View) -> str | None:
    """An interface of 25 Gbit/s or more that carries the data over TCP.

    Empty without one, None if no speed is known.
    """
    if rank.net != "Socket":
        return None if rank.net is None else ""
    host = view.host(rank.host)
    names = {interface.name for interface in rank.socket_interfaces or ()}
    speeds = [i for i in (host.interfaces if host is not None else ()) if i.name in names and i.speed_mbps]
    for interface in speeds:
        if (interface.speed_mbps or 0) >= _FAST_MBPS:
            view.note(interface)
            return interface.name
    return "" if speeds else None


@derived
def shared_subnet(host: Host, view: View) -> str | None:
    """Two interfaces with IPv4 addresses in one network: ``eth0 and eth1``.

    Empty without such a pair, None when the interfaces were not all seen.
    """
    seen: dict[str, Interface] = {}
    for interface in host.interfaces:
        if interface.up is False or (interface.kind is not None and not leads_out(interface, view)):
            continue
        for address in interface.addresses or ():
            network = _network(address.ip, address.prefix_len)
            if network and seen.setdefault(network, interface).name != interface.name:
                view.note(seen[network])
                view.note(interface)
                return f"{seen[network].name} and {interface.name}"
    return "" if is_closed(host, "interfaces") else None


def _network(ip: str, prefix_len: int | None) -> str | None:
    address = ip_address(ip)
    if address is None or prefix_len is None or prefix_len > 30 or ":" in ip or address.is_loopback:  # noqa: PLR2004
        return None
    bits = int(address) >> (32 - prefix_len)
    return f"{bits}/{prefix_len}"


@derived
def filters_reverse_path(host: Host, view: View) -> bool | None:
    """Does the kernel drop packets that arrive on another interface than the one for the answer (rp_filter 1)?

    The larger of the value for all and that of the interface counts; 2 is loose and drops none of these.
    """
    told = host.sysctls or {}
    values = {n: v for n, v in told.items() if n.startswith("net.ipv4.conf.") and n.endswith(".rp_filter")}
    if not values:
        return None
    view.note(host, "sysctls")
    if values.get("net.ipv4.conf.all.rp_filter") == "2":
        return False
    return "1" in values.values()


@derived
def answers_for_other_cards(host: Host, view: View) -> bool:
    """Does the kernel answer ARP for an address on a card that does not have it (arp_ignore 0), and RDMA fails?

    The peer then sends to the other card, whose RDMA device has no such GID and drops it (kernel ip-sysctl). As 0 is
    the default of the kernel, it explains no loss of a program that ended by a mistake of its own.
    """
    told = host.sysctls or {}
    values = [v for n, v in told.items() if n.startswith("net.ipv4.conf.") and n.endswith(".arp_ignore")]
    if not values or any(value != "0" for value in values) or not failed_over_verbs(view.job, view):
        return False
    if mistakes(view.job, view):
        return False
    view.note(host, "sysctls")
    return True


@derived
def socket_tuning_excess(host: Host, view: View) -> bool | None:
    """Are more socket threads or sockets configured than NCCL supports?

    By its own message, else by the two variables (MAX_THREADS and MAX_SOCKETS of src/transport/net_socket.cc).
    """
    for event in view.events_on(host.name, ["socket-tuning-clipped"]):
        view.note(event)
        return True
    threads, each = (view.setting(host, name) for name in ("NCCL_SOCKET_NTHREADS", "NCCL_NSOCKS_PERTHREAD"))
    if threads is None or threads.number is None:
        return None
    view.note(threads)
    if threads.number > _MAX_THREADS:
        return True
    return each is not None and each.number is not None and threads.number * each.number > _MAX_SOCKETS


@derived
def told_fraction_of_streams(job: Job, view: View) -> float | None:
    """The rate of one TCP stream divided by that of several, by people's words."""
    return ratio(told_rate(job, view, {"tcp-stream"}), told_rate(job, view, {"tcp"}))
