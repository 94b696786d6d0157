"""What makes an Ethernet port carry RDMA well: addresses, GID entries, MTU, marks of packets, the cards listed."""

from __future__ import annotations

from ncdiag.facts.assemble_hosts import UNNAMED
from ncdiag.facts.model import Difference, Host, Interface, Job, Port, Rank
from ncdiag.facts.scalars import ip_address
from ncdiag.facts.view import View, derived


def _interface_of(port: Port, view: View) -> Interface | None:
    host = view.host(port.host)
    name = port.netdev or next((g.netdev for g in port.gids if g.netdev), None)
    return next((i for i in host.interfaces if i.name == name), None) if host is not None and name else None


@derived
def netdev_name(port: Port, view: View) -> str:
    """The interface of the port, for people."""
    interface = _interface_of(port, view)
    return interface.name if interface is not None else "its interface"


@derived
def netdev_lacks_ip(port: Port, view: View) -> bool | None:
    """Has the interface of this port no IP address but a link-local one? A slave of a bond needs none."""
    if any(gid.ip is not None for gid in port.gids):
        return False
    interface = _interface_of(port, view)
    if interface is None or interface.addresses is None:
        return _has_link_local_alone(port, view) or None
    view.note(interface)
    found = [ip_address(a.ip) for a in interface.addresses]
    return interface.master is None and not any(a is not None and not a.is_link_local for a in found)


def _has_link_local_alone(port: Port, view: View) -> bool:
    """Does the whole GID table hold nothing else? The kernel makes entries of every address of the interface."""
    if not port.gids or not port.gids_complete:
        return False
    view.note(port.gids[0])
    return all((gid.address or "").lower().startswith("fe80") for gid in port.gids)


@derived
def has_rocev2(port: Port, view: View) -> bool | None:
    """Has the GID table an entry of type RoCE v2? None when the table is not known whole."""
    if any(gid.type == "RoCE v2" for gid in port.gids):
        return True
    return False if port.gids_complete and port.gids and all(gid.type is not None for gid in port.gids) else None


@derived
def lossless_priority(host: Host, view: View) -> int | None:
    """The priority above 0 that an interface of the host keeps lossless for marked packets; 0: it keeps none."""
    for interface in host.interfaces:
        if interface.trust == "dscp" and any(interface.pfc or ()):
            view.note(interface)
            return next(p for p in interface.pfc or () if p)
    return 0 if any(i.trust is not None or i.pfc is not None for i in host.interfaces) else None


@derived
def unmarked_interface(host: Host, view: View) -> str | None:
    """An interface that ignores the marks of packets (trust pcp) or keeps no priority lossless.

    Empty without one; None where no interface was shown to treat marks in any way.
    """
    for interface in host.interfaces:
        if interface.trust == "pcp" or interface.pfc == ():
            view.note(interface)
            return interface.name
    return "" if any(i.trust is not None or i.pfc is not None for i in host.interfaces) else None


@derived
def slow_devices(rank: Rank, view: View) -> tuple[str, ...] | None:
    """Listed RDMA ports of less than half the rate of the fastest listed one; None when their rates are not known."""
    if not rank.net_devices:
        return None
    names = {part for d in rank.net_devices for part in d.name.split("+")}
    hosts = [view.host(name) for name in (rank.host, UNNAMED) if name == rank.host or not view.ranks_on(name)]
    ports = [p for h in hosts if h for hca in h.hcas for p in hca.ports if p.hca in names and p.rate_gbps]
    if len(ports) < len(names):
        return None
    fastest = max(p.rate_gbps or 0 for p in ports)
    slow = [p for p in ports if (p.rate_gbps or 0) * 2 < fastest]
    for port in slow:
        view.note(port)
    return tuple(f"{p.hca} ({p.rate_gbps:g} Gbit/s)" for p in slow)


@derived
def uses_bond(rank: Rank, view: View) -> bool | None:
    """Is one of the RDMA devices that the rank uses a bond of two ports (``mlx5_bond_0``)?"""
    if rank.net_devices is None:
        return None
    return rank.net == "IB" and any("bond" in d.name and d.link_layer == "RoCE" for d in rank.net_devices)


@derived
def gid_index_differences(job: Job, view: View) -> tuple[Difference, ...] | None:
    """The differences in the index of the RoCE v2 entry with an IPv4 address.

    None where there is none and the GID tables of a host were not shown.
    """
    found = tuple(difference for difference in view.get(job, "differences") if difference.what == "rocev2_index")
    shown = bool(job.hosts) and all(_shows_gids(host, view) for host in job.hosts)
    return found if found or shown else None


def _shows_gids(host: Host, view: View) -> bool:
    """True if a GID table of the host was shown, or none of its ports is Ethernet's."""
    ports = [port for hca in host.hcas for port in hca.ports]
    return any(port.gids for port in ports) or {view.get(port, "is_roce") for port in ports} == {False}
