"""Facts about RDMA hardware and GPUDirect RDMA that need no knowledge of how NCCL chooses."""

from __future__ import annotations

from collections.abc import Sequence

from ncdiag.facts.assemble_hosts import UNNAMED
from ncdiag.facts.model import GdrVerdict, GidUse, Host, Job, Rank
from ncdiag.facts.scalars import is_rdma_resource
from ncdiag.facts.view import View, derived

_RDMA_SETTINGS = ("NCCL_IB_", "FI_EFA_", "NCCL_NET_GDR", "UCX_NET_DEVICES")
_RDMA_NICS = ("ConnectX", "BlueField", "Infiniband controller", "Elastic Fabric Adapter", "BCM957", "Thor")


def ranks_of(host: Host, view: View) -> Sequence[Rank]:
    """The ranks on a host; for output pasted without a host name, all ranks (it comes from one of their hosts)."""
    mine = view.ranks_on(host.name)
    return view.job.ranks if not mine and host.name == UNNAMED else mine


@derived
def has_rdma_hardware(host: Host, view: View) -> bool | None:
    """Does the machine have an RDMA device: in verbs, on the PCI bus, or as a file that its driver made?"""
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
    seen = host.complete & {"ibstat", "ibstatus", "ibv_devinfo", "sysfs_infiniband", "infiniband_class"}
    return False if seen else None


@derived
def lacks_rdma(job: Job, view: View) -> bool | None:
    """Has no host that was seen any RDMA device?"""
    told = [view.get(host, "has_rdma_hardware") for host in job.hosts]
    if True in told:
        return False
    return True if told and None not in told else None


@derived
def expects_rdma(job: Job, view: View) -> bool | None:
    """Does anything say that the job's hosts have an RDMA network: hardware, settings, what a pod asks for?

    None where nothing does: then it is not known.
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
    lacks: bool | None = view.get(job, "lacks_rdma")
    return None if lacks is None else not lacks


@derived
def failed_over_verbs(job: Job, view: View) -> bool:
    """Did an RDMA connection or transfer of the job fail?"""
    return any(e.event in {"ib-completion-error", "ib-modify-qp-failed"} for e in job.events)


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
def is_link_local(use: GidUse, view: View) -> bool | None:
    """Is the local GID a link-local one (fe80::)?"""
    return use.local_gid.lower().startswith("fe80") if use.local_gid else None


@derived
def by_distance(verdict: GdrVerdict, view: View) -> bool:
    """Was GPUDirect RDMA refused because GPU and NIC are too far apart?"""
    return (
        not verdict.enabled
        and verdict.distance is not None
        and verdict.limit is not None
        and verdict.distance > verdict.limit
    )
