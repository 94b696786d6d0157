"""Properties of a host: sysctls, device files, kernel logs, and its NCCL release as text."""

from __future__ import annotations

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Host, Job, TopoLink
from ncdiag.facts.view import View


@derived
def nccl_text(host: Host, view: View) -> str:
    """The NCCL version of the host as text for messages."""
    version = view.version(host)
    return str(version) if version else "(version unknown)"


@derived
def has_infiniband_devices(host: Host, view: View) -> bool | None:
    """Does the host have verbs device files that a program can open (/dev/infiniband/uverbs*)? None if not listed."""
    if host.infiniband_devices is None:
        return None
    view.note(host, "infiniband_devices")
    return any(name.startswith("uverbs") for name in host.infiniband_devices)


@derived
def hca(link: TopoLink, view: View) -> str | None:
    """The RDMA device at one end of the link: its own name, or the one that the legend of ``topo -m`` gives."""
    label = next((end for end in (link.b, link.a) if not end.startswith("GPU")), None)
    host = view.host(link.host)
    if label is None or host is None:
        return None
    return (host.nic_labels or {}).get(label)


@derived
def kernel_logs(job: Job, view: View) -> tuple[str | None, ...]:
    """The hosts whose kernel log was at least partly read; None among them is a host without a name."""
    return tuple(dict.fromkeys(event.host for event in job.events if event.origin == "kernel"))


@derived
def shows_kernel_log(host: Host, view: View) -> bool:
    """Was the kernel log of the host at least partly read? Then an event that it does not contain did not happen."""
    shown = kernel_logs(view.job, view)
    return None in shown or host.name in shown


TRACKED_COUNT, TRACKED_LIMIT = "net.netfilter.nf_conntrack_count", "net.netfilter.nf_conntrack_max"
"""The kernel parameters for the number of connections that a host tracks, and how many it may."""


def sysctl(host: Host, name: str) -> str | None:
    """The value of a sysctl of the host as text; None when it was not shown."""
    return (host.sysctls or {}).get(name)


RDMA_CARDS = ("ConnectX", "BlueField", "Infiniband controller")


def unanswered(job: Job) -> set[str]:
    """The names of the hosts that a sweep asked and that did not answer."""
    return {event.host for event in job.events if event.event == "host-unanswered" and event.host}


@derived
def stack_unlimited(host: Host, view: View) -> bool | None:
    """Is the stack unlimited?"""
    limit = next((limit for limit in host.limits if limit.name == "stack"), None)
    if limit is None:
        return None
    view.note(limit)
    return limit.unlimited
