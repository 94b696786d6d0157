"""Elastic Fabric Adapters: is there one, are there enough, and does the job's traffic use them?"""

from __future__ import annotations

from ncdiag.base.products import efa_machines
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Event, Hca, Host, Job, Rank
from ncdiag.facts.model.declared import is_closed
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.job import is_multi_host
from ncdiag.facts.vocabulary.rdma import ranks_of, vendor_of
from ncdiag.knowledge.cloud.providers import provider

_PCI_NAME = "Elastic Fabric Adapter"
_INSTALLED = "/opt/amazon/"
_MOST_GPUS = 8
_BY_CUSTOM = ("rdmap", "efa_")


def _events(host: Host, view: View) -> list[Event]:
    """What the OFI plugin printed."""
    return view.events_on(host.name, [name for name in view.event_names() if name.startswith("ofi-")])


@derived
def has_efa(host: Host, view: View) -> bool | None:
    """Does the machine have an Elastic Fabric Adapter?

    By its PCI vendor or name, its driver, because the OFI plugin knows the instance type (its table holds only types
    with EFA: aws-ofi-nccl, platform-aws), or because the type that is known or told of the machine has it. False where
    the PCI devices were listed, where it has RDMA devices of another make, or in another cloud. None where the devices
    were not shown, or only the name of an RDMA device or the plugin itself hints at it.
    """
    for hca in host.hcas:
        if is_efa(hca, view) or hca.driver == "efa":
            view.note(hca)
            return True
    for device in host.pci:
        if _PCI_NAME in (device.description or ""):
            view.note(device)
            return True
    events = _events(host, view)
    for event in events:
        if event.event == "ofi-platform":
            view.note(event)
            return True
    if (events and _has_efa_software(view)) or (_is_efa_type(host, view) and not _shows_devices(host, view)):
        return True
    named = any(h.name.startswith(_BY_CUSTOM) and is_efa(h, view) is None for h in host.hcas)
    return None if named or events or not _shows_devices(host, view) else False


def _shows_devices(host: Host, view: View) -> bool:
    """True if an adapter would have been seen, or the host is of a cloud that has none."""
    return bool(host.hcas or is_closed(host, "pci")) or provider(host, view) not in {None, "aws"}


def _is_efa_type(host: Host, view: View) -> bool:
    """Is the machine of a type with EFA: by what it says itself, else by what a person says of the machines?"""
    if host.instance_type is not None:
        view.note(host, "instance_type")
        return host.instance_type in efa_machines()
    told = next((c for c in view.job.contexts if c.kind == "instance-type" and c.value in efa_machines()), None)
    if told is not None:
        view.note(told)
    return told is not None


def _has_efa_software(view: View) -> bool:
    """Was the job started by the Open MPI that comes with the EFA software (its installer puts it there)?"""
    launch = next((launch for launch in view.job.launches if _INSTALLED in launch.text), None)
    if launch is not None:
        view.note(launch)
    return launch is not None


@derived
def efa_unused(host: Host, view: View) -> bool | None:
    """Does the traffic go over something else: TCP sockets, or a provider of libfabric that is not efa?"""
    told = list(_events(host, view))
    for event in told:  # the plugin tries several protocols: that one found no provider is no matter then
        if event.event == "ofi-provider":
            view.note(event)
            return event.fields.get("provider") != "efa"
    for event in told:
        if event.event in {"ofi-no-provider", "ofi-init-failed"}:
            view.note(event)
            return True
    for rank in ranks_of(host, view):
        if rank.net is not None:
            view.note(rank, "net")
            return rank.net == "Socket"
    if (host.libfabric_providers or {}).get("efa") is False:  # whatever the job does, it finds no such provider
        view.note(host, "libfabric_providers")
        return True
    return None


@derived
def spans_efa_machines(job: Job, view: View) -> bool | None:
    """Does the job span several machines? No instance type with EFA has more GPUs than eight."""
    if is_multi_host(job, view) is None and (job.nranks or 0) > _MOST_GPUS:
        return True
    found: bool | None = is_multi_host(job, view)
    return found


@derived
def security_group_fault(job: Job, view: View) -> str | None:
    """`` (security group sg-1 lets nothing out to its own members)``: why EFA may not pass.

    Empty where nothing is wrong, None where no security group was shown.
    """
    for group in job.security_groups:
        ways = {"in from": group.takes_own, "out to": group.sends_own}
        closed = [way for way, passes in ways.items() if passes is False]
        if closed:
            view.note(group)
            return f" (security group {group.id} lets not all traffic {' and '.join(closed)} its own members)"
    for what in ("zone", "vpc"):
        places = sorted({place for instance in job.cloud_instances if (place := getattr(instance, what))})
        if len(places) > 1:
            view.note(job.cloud_instances[0])
            return f" (the instances are in several {what}s: {', '.join(places)})"
    return "" if job.security_groups else None


@derived
def security_group_told(job: Job, view: View) -> str:
    """The same, empty as well where nothing was shown."""
    return security_group_fault(job, view) or ""


@derived
def passes_efa(job: Job, view: View) -> bool:
    """True if security groups were shown and each lets its own members through, in both directions."""
    known = all(None not in {group.takes_own, group.sends_own} for group in job.security_groups)
    return known and security_group_fault(job, view) == ""


_COUNTED = frozenset({"p4d.24xlarge", "p4de.24xlarge"})
"""Instance types whose EFA cards all releases of the plugin count alike."""


@derived
def efa_nics_expected(host: Host, view: View) -> int | None:
    """How many EFA cards this type of instance has."""
    told = next(iter(view.events_on(host.name, ["ofi-platform"])), None)
    name = host.instance_type or (str(told.fields.get("instance_type")) if told is not None else None)
    return efa_machines()[name].ports if name in _COUNTED else None


@derived
def efa_nics_found(host: Host, view: View) -> int | None:
    """How many the plugin found, or libfabric lists."""
    for event in view.events_on(host.name, ["ofi-provider"]):
        nics = event.fields.get("nics")
        if isinstance(nics, int) and event.fields.get("provider") == "efa":
            view.note(event)
            return nics
    if (host.libfabric_providers or {}).get("efa"):
        view.note(host, "libfabric_providers")
        return sum(hca.driver == "efa" for hca in host.hcas)
    return None


@derived
def lacks_efa_nics(host: Host, view: View) -> bool | None:
    """Were fewer EFA devices found than the instance type has?"""
    expected, found = efa_nics_expected(host, view), efa_nics_found(host, view)
    return None if expected is None or found is None else found < expected


_FRONTEND = ("mlx5_an", "mana_")
"""Ethernet adapters as udev names them on Azure, and those of MANA as the kernel does (mana_ib, device.c)."""


@derived
def missing_efa(host: Host, view: View) -> str | None:
    """``0 of 4``: EFA devices that this host has, of those of its instance type; empty where there are some.

    None where its type, or all of its RDMA devices, were not shown.
    """
    machine = efa_machines().get(host.instance_type or "")
    if machine is None or not machine.ports:
        return "" if host.instance_type is not None else None
    found = [hca for hca in host.hcas if is_efa(hca, view) or hca.driver == "efa" or hca.name.startswith(_BY_CUSTOM)]
    if found:
        return ""
    if not is_closed(host, "hcas"):
        return None
    view.note(host, "instance_type")
    view.note(host, "complete:sysfs_infiniband")
    return f"{len(found)} of {machine.ports}"


@derived
def includes_frontend_nic(rank: Rank, view: View) -> bool | None:
    """Does NCCL use Azure's Ethernet adapter (``mlx5_an0``, ``mana_0``) beside the InfiniBand ones?"""
    if not rank.net_devices:
        return None
    names = _parts(rank)
    front = [name for name in names if name.startswith(_FRONTEND)]
    return bool(front) and len(front) < len(names)


@derived
def frontend_nic(rank: Rank, view: View) -> str:
    """``mlx5_an0``: the first of them in the rank's list."""
    return next((name for name in _parts(rank) if name.startswith(_FRONTEND)), "")


def _parts(rank: Rank) -> list[str]:
    return [part for device in rank.net_devices or () for part in device.name.split("+")]


_AMAZON = 0x1D0F


@derived
def is_efa(hca: Hca, view: View) -> bool | None:
    """Is it an Elastic Fabric Adapter? By its PCI vendor; a name like ``rdmap0s6`` alone says nothing."""
    vendor = vendor_of(hca)
    return None if vendor is None else vendor == _AMAZON
