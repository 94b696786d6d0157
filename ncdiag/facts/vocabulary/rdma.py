"""RDMA devices, their ports, and the ranks that use them: RoCE or InfiniBand, state, rate, and GIDs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.assemble_hosts import UNNAMED
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Fact, GdrVerdict, Hca, Host, Interface, Job, Port, Rank
from ncdiag.facts.scalars import is_rdma_resource
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.interfaces import likely_kind


def raised_counters(counters: dict[str, int] | None, names: tuple[str, ...]) -> str | None:
    """The counters with these names that are not 0, as text: ``link_downed 3``; None if none of them was shown."""
    shown = {name: value for name in names if (value := (counters or {}).get(name)) is not None}
    return ", ".join(f"{name} {value}" for name, value in shown.items() if value > 0) if shown else None


_OFI_EVENTS = ("ofi-", "efa-")


@derived
def uses_ofi(job: Job, view: View) -> bool:
    """Does the OFI plugin or libfabric print anything in this job, with any result?"""
    return any(name.startswith(_OFI_EVENTS) for name in view.event_names())


@derived
def mixes_link_layers(rank: Rank, view: View) -> bool | None:
    """Does the rank's list of RDMA ports hold InfiniBand and RoCE ports?"""
    if rank.net_devices is None:
        return None
    view.note(rank, "net_devices")
    return {"IB", "RoCE"} <= {d.link_layer for d in rank.net_devices}


@derived
def device_list(rank: Rank, view: View) -> str:
    """The RDMA devices of the rank with their link layers: ``mlx5_0 (IB), mlx5_bond_0 (RoCE)``."""
    return ", ".join(f"{d.name} ({d.link_layer or 'link layer unknown'})" for d in rank.net_devices or ())


_NO_VENDOR = 0xFFFFFF
_SOFTWARE = lazy_regex(r"rxe|siw")


@derived
def is_active(port: Port, view: View) -> bool | None:
    """Is the port active? NCCL uses no other ports."""
    return None if port.state is None else port.state == "active"


@derived
def is_roce(port: Port, view: View) -> bool | None:
    """Does the port carry RDMA over Ethernet? From the link layer, or from the types in its GID table."""
    if port.link_layer is not None:
        return port.link_layer == "Ethernet"
    types = {gid.type for gid in port.gids} - {None}
    return any(kind != "IB" for kind in types) if types else None


@derived
def rocev2_ipv4_index(port: Port, view: View) -> int | None:
    """The lowest index of type RoCE v2 with an IPv4 address; None without one, or when a lower one may be unseen."""
    known = {gid.index for gid in port.gids if gid.type is not None}
    for gid in sorted(port.gids, key=lambda g: g.index):
        if gid.type == "RoCE v2" and gid.ip is not None:
            return gid.index if port.gids_complete or known.issuperset(range(gid.index)) else None
    return None


@derived
def active_ports(host: Host, view: View) -> tuple[Port, ...]:
    """The ports of the host that are known to be active, device by device."""
    return tuple(port for hca in host.hcas for port in hca.ports if is_active(port, view))


@derived
def is_soft_rdma(hca: Hca, view: View) -> bool | None:
    """Is the device Soft-RoCE or Soft-iWARP?

    The rxe and siw drivers have no PCI device, and their device names begin with the driver's name by convention.
    """
    vendor = vendor_of(hca)
    if _SOFTWARE.match(hca.name) or vendor in {0, _NO_VENDOR}:
        return True
    return None if vendor is None else False


def vendor_of(hca: Hca) -> int | None:
    """The PCI vendor number of an RDMA device; None when it was not shown."""
    try:
        return int(hca.vendor_id or "", 16)
    except ValueError:
        return None


_RDMA_SETTINGS = ("NCCL_IB_", "FI_EFA_", "NCCL_NET_GDR", "UCX_NET_DEVICES")
_RDMA_NICS = ("ConnectX", "BlueField", "Infiniband controller", "Elastic Fabric Adapter", "BCM957", "Thor")


def ranks_of(host: Host, view: View) -> Sequence[Rank]:
    """The ranks on a host; for pasted output without a host name all ranks, since it comes from one of their hosts."""
    mine = view.ranks_on(host.name)
    return view.job.ranks if not mine and host.name == UNNAMED else mine


@derived
def has_rdma_hardware(host: Host, view: View) -> bool | None:
    """Does the machine have an RDMA device: in verbs, on the PCI bus, as a device file, or below an interface for IP?

    An interface for IP over InfiniBand (``ib0``) exists only on a card of InfiniBand
    (Documentation/infiniband/ipoib.rst).
    """
    for hca in host.hcas:
        view.note(hca)
    if host.hcas:
        return True
    for rank in ranks_of(host, view):
        if rank.net_devices:
            view.note(rank, "net_devices")
            return True
    for device in host.pci:
        if any(word in (device.description or "") for word in _RDMA_NICS):
            view.note(device)
            return True
    if any(name.startswith("uverbs") for name in host.infiniband_devices or ()):
        view.note(host, "infiniband_devices")
        return True
    if _has_ipoib(host, view):
        return True
    seen = host.complete & {"ibstat", "ibstatus", "ibv_devinfo", "sysfs_infiniband", "infiniband_class"}
    return False if seen else None


def _has_ipoib(host: Host, view: View) -> bool:
    found: list[tuple[Interface, Fact, str]] = [(each, each, "") for each in host.interfaces]
    for rank in ranks_of(host, view):
        found += [(each, rank, "socket_interfaces") for each in rank.socket_interfaces or ()]
        found += [(rank.bootstrap_interface, rank, "bootstrap_interface")] if rank.bootstrap_interface else []
    for interface, fact, field in found:
        if likely_kind(interface, view) == "ipoib":
            view.note(fact, field)
            return True
    return False


@derived
def lacks_rdma(job: Job, view: View) -> bool | None:
    """Are all hosts that were seen without RDMA devices?"""
    told = [has_rdma_hardware(host, view) for host in job.hosts]
    if True in told:
        return False
    return True if told and None not in told else None


@derived
def expects_rdma(job: Job, view: View) -> bool | None:
    """Does anything show that the hosts of the job have an RDMA network: hardware, settings, resources of a pod?

    None if nothing does, since it is then unknown.
    """
    for setting in job.settings:
        off = setting.name == "NCCL_IB_DISABLE"
        if setting.is_set and setting.name.startswith(_RDMA_SETTINGS) and not off:
            view.note(setting)
            return True
    if any(launch.rdma_resources or any("infiniband" in d for d in launch.devices) for launch in job.launches):
        return True
    offering = next((node for node in job.cluster_nodes if any(map(is_rdma_resource, node.resources or ()))), None)
    if offering is not None:
        view.note(offering, "resources")
        return True
    lacks = lacks_rdma(job, view)
    return None if lacks is None else not lacks


@derived
def failed_over_verbs(job: Job, view: View) -> bool:
    """Did an RDMA connection or transfer of the job fail?"""
    return any(e.event in _OVER_VERBS for e in job.events)


_OVER_VERBS = frozenset({"ib-completion-error", "ib-modify-qp-failed", "ib-query-gid-failed", "ucx-endpoint-timeout"})


@derived
def uses_roce(rank: Rank, view: View) -> bool | None:
    """Does the rank use RDMA ports of link layer Ethernet?"""
    if rank.net_devices:
        layers = {d.link_layer for d in rank.net_devices}
        if "RoCE" in layers:
            return rank.net != "Socket"
        return False if None not in layers else None
    return None


@derived
def by_distance(verdict: GdrVerdict, view: View) -> bool:
    """Was GPUDirect RDMA refused because GPU and NIC are too far apart?"""
    return (
        not verdict.enabled
        and verdict.distance is not None
        and verdict.limit is not None
        and verdict.distance > verdict.limit
    )


@derived
def slow_devices(rank: Rank, view: View) -> tuple[str, ...] | None:
    """Listed RDMA ports with less than half the rate of the fastest; None if none is seen and a rate is not known."""
    if not rank.net_devices:
        return None
    names = {part for d in rank.net_devices for part in d.name.split("+")}
    uses: dict[str, set[int | None]] = defaultdict(set)
    for device in rank.net_devices:
        uses[device.name].add(device.port)
    hosts = [view.host(rank.host), None if view.ranks_on(UNNAMED) else view.host(UNNAMED)]
    listed = [
        (p, _rate(p, h)) for h in hosts if h for hca in h.hcas for p in hca.ports
        if p.hca in names and not uses.get(p.hca, {None}).isdisjoint({None, p.number})
    ]  # fmt: skip
    ports = [(port, rate) for port, rate in listed if rate]
    fastest = max((rate for _, rate in ports), default=0)
    slow = [(port, rate) for port, rate in ports if rate * 2 < fastest]
    if not slow and len(ports) < len(names):
        return None
    for port, _ in slow:
        view.note(port)
    return tuple(f"{port.hca} ({rate:g} Gbit/s)" for port, rate in slow)


def _rate(port: Port, host: Host) -> float | None:
    """The rate of a port in Gbit/s; where no tool printed it, that of its network interface."""
    interface = next((i for i in host.interfaces if i.name == port.netdev), None)
    return port.rate_gbps or (interface.speed_mbps / 1000 if interface is not None and interface.speed_mbps else None)
