"""Elastic Fabric Adapters: whether they exist, how many, and whether the job's traffic uses them."""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
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
_UDEV_NAME = lazy_regex(r"rdmap\d{1,4}s\d{1,3}$")
"""How rdma-core names a device that is neither InfiniBand, RoCE, iWARP nor Omni-Path (kernel-boot/rdma_rename.c)."""


def _events(host: Host, view: View) -> list[Event]:
    """The events that the OFI plugin printed."""
    return view.events_on(host.name, [name for name in view.event_names() if name.startswith("ofi-")])


@derived
def has_efa(host: Host, view: View) -> bool | None:
    """Does the machine have an Elastic Fabric Adapter?

    By its PCI vendor or name, by its driver, by the name that udev gives to devices of no other kind, because the OFI
    plugin knows the instance type (its table holds only types with EFA: aws-ofi-nccl, platform-aws), or because the
    known or reported instance type has one. False where the PCI devices were listed, where the machine has RDMA devices
    of another vendor, or in another cloud. None where the devices were not shown, or where only another name of an RDMA
    device or the plugin itself suggests it.
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
    named = [h for h in host.hcas if _UDEV_NAME.match(h.name) and is_efa(h, view) is None]
    if named and provider(host, view) in {None, "aws"}:
        for hca in named:
            view.note(hca)
        return True
    named = [h for h in host.hcas if h.name.startswith(_BY_CUSTOM) and is_efa(h, view) is None]
    return None if named or events or not _shows_devices(host, view) else False


def _shows_devices(host: Host, view: View) -> bool:
    """Would an adapter have been seen, or is the host in a cloud without EFA?"""
    return bool(host.hcas or is_closed(host, "pci")) or provider(host, view) not in {None, "aws"}


def _is_efa_type(host: Host, view: View) -> bool:
    """Is the instance type one with EFA: by the machine's own information, else by what a person says?"""
    if host.instance_type is not None:
        view.note(host, "instance_type")
        return host.instance_type in efa_machines()
    return _named_type(view) is not None


def _named_type(view: View) -> str | None:
    """The instance type with EFA that a person names; None if no type is named, or several are."""
    named = [c for c in view.job.contexts if c.kind == "instance-type" and c.value in efa_machines()]
    if len({context.value for context in named}) != 1:
        return None
    view.note(named[0])
    return named[0].value


def _has_efa_software(view: View) -> bool:
    """Was the job started by the Open MPI that comes with the EFA software (its installer puts it there)?"""
    launch = next((launch for launch in view.job.launches if _INSTALLED in launch.text), None)
    if launch is not None:
        view.note(launch)
    return launch is not None


@derived
def efa_unused(host: Host, view: View) -> bool | None:
    """Does the traffic use something else than EFA: TCP sockets, or another provider of libfabric?"""
    told = list(_events(host, view))
    for event in told:  # the plugin tries several protocols; one without a provider is then harmless
        if event.event == "ofi-provider":
            view.note(event)
            return event.fields.get("provider") != "efa"
    for event in told:
        if event.event in {"ofi-no-provider", "ofi-init-failed"}:
            view.note(event)
            return True
    told = view.events_on(host.name, ["plugin-not-found"])
    for rank in ranks_of(host, view) or view.job.ranks:  # a host that shows its devices alone is one of the job's
        if rank.net is not None:
            view.note(rank, "net")
            if rank.net == "Socket" and told:
                view.note(told[0])
            return rank.net == "Socket"
    if (host.libfabric_providers or {}).get("efa") is False:  # the search fails whatever the job does
        view.note(host, "libfabric_providers")
        return True
    return None


@derived
def spans_efa_machines(job: Job, view: View) -> bool | None:
    """Does the job span several machines? No instance type with EFA has more GPUs than eight.

    A complaint that compares with one host says so as well.
    """
    if any(told.against == "one host" or told.scope == "multi-host" for told in job.complaints):
        return True
    if is_multi_host(job, view) is None and (job.nranks or 0) > _MOST_GPUS:
        return True
    found: bool | None = is_multi_host(job, view)
    return found


@derived
def security_group_fault(job: Job, view: View) -> str | None:
    """Why EFA traffic may be blocked: `` (security group sg-1 lets nothing out to its own members)``.

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
    """Why EFA traffic may be blocked by a security group; empty where nothing is wrong or nothing was shown."""
    return security_group_fault(job, view) or ""


@derived
def passes_efa(job: Job, view: View) -> bool:
    """Were security groups shown, and does each allow traffic between its members, in both directions?"""
    known = all(None not in {group.takes_own, group.sends_own} for group in job.security_groups)
    return known and security_group_fault(job, view) == ""


_COUNTED = 4
"""The number of EFA cards up to which all releases of the plugin count each card."""
_GROUP = 4
"""The most cards that the plugin counts as one on machines that have more."""


@derived
def efa_nics_expected(host: Host, view: View) -> int | None:
    """The number of EFA cards of the host's instance type; None if unknown."""
    told = next(iter(view.events_on(host.name, ["ofi-platform"])), None)
    name = host.instance_type or (str(told.fields.get("instance_type")) if told is not None else _named_type(view))
    machine = efa_machines().get(name or "")
    return machine.ports if machine is not None else None


@derived
def efa_nics_found(host: Host, view: View) -> int | None:
    """The number of EFA cards that the plugin found or libfabric lists; None if not shown."""
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
    if expected is None or found is None:
        return None
    return found * (1 if expected <= _COUNTED else _GROUP) < expected


_FRONTEND = ("mlx5_an", "mana_")
"""Ethernet adapters by the names that udev gives them on Azure, and that the kernel gives MANA (mana_ib, device.c)."""


@derived
def missing_efa(host: Host, view: View) -> str | None:
    """The EFA devices of the host, of those of its instance type, ``0 of 4``; empty where there are any.

    Also empty where it has InfiniBand ports, which no instance of AWS has. None where its type, or all of its RDMA
    devices, were not shown.
    """
    machine = efa_machines().get(host.instance_type or "")
    if machine is None or not machine.ports:
        return "" if host.instance_type is not None else None
    found = [hca for hca in host.hcas if is_efa(hca, view) or hca.driver == "efa" or hca.name.startswith(_BY_CUSTOM)]
    if found or any(port.link_layer == "InfiniBand" for hca in host.hcas for port in hca.ports):
        return ""
    has_no_files = host.infiniband_devices == ()  # each adapter has one in /dev/infiniband
    if not has_no_files and not is_closed(host, "hcas"):
        return None
    view.note(host, "instance_type")
    view.note(host, "infiniband_devices" if has_no_files else "complete:sysfs_infiniband")
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
    """The first Azure Ethernet adapter in the rank's list: ``mlx5_an0``."""
    return next((name for name in _parts(rank) if name.startswith(_FRONTEND)), "")


def _parts(rank: Rank) -> list[str]:
    return [part for device in rank.net_devices or () for part in device.name.split("+")]


_AMAZON = 0x1D0F
_EFA_PARTS = range(0xEFA0, 0xEFB0)
"""PCI device numbers of the adapters so far, 0xefa0 to 0xefa3 (drivers/infiniband/hw/efa/efa_main.c), and the next."""


@derived
def is_efa(hca: Hca, view: View) -> bool | None:
    """Is this device an Elastic Fabric Adapter, by its PCI vendor, or by its PCI device where the vendor is not shown?

    A name such as ``rdmap0s6`` does not decide.
    """
    vendor = vendor_of(hca)
    if vendor is None and (hca.part_id or "").isdecimal() and int(hca.part_id or "") in _EFA_PARTS:
        return True
    return None if vendor is None else vendor == _AMAZON


@derived
def all_use_efa(job: Job, view: View) -> bool:
    """Does the log of at least one host show that its traffic goes over EFA, and no log that traffic does not?"""
    unused = {efa_unused(host, view) for host in job.hosts}
    return False in unused and True not in unused and not any(rank.net == "Socket" for rank in job.ranks)
