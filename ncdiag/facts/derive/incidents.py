"""Derived fields of events: links that were lost, devices that a virtual machine hides, memory that CUDA refuses."""

from __future__ import annotations

import ipaddress

from ncdiag.facts.model import Event
from ncdiag.facts.scalars import ip_address
from ncdiag.facts.view import View, derived, derived_of

_SHM_FILES = ("shmutils.cc", "os/linux.cc", "include/shm.h")
_RETRIES_EXCEEDED = 12


@derived_of("ib-async-event", "hca-link", "interface-link-down", "carrier-lost")
def is_link_loss(event: Event, view: View) -> bool:
    """Did the port of a network card lose its link, as the kernel, networkd or NCCL's asynchronous events tell it?"""
    if event.event == "ib-async-event":
        return event.fields.get("what") == "port error"
    if event.event == "hca-link":
        return str(event.fields.get("link_state", "")).upper() == "DOWN"
    return event.event in {"interface-link-down", "carrier-lost"}


@derived
def lost_port(event: Event, view: View) -> str:
    """``mlx5_2`` or ``ens1f0np0``; a word where the line names none."""
    return str(event.fields.get("hca") or event.fields.get("interface") or "an RDMA port")


@derived_of("cuda-failure")
def is_shm_registration(event: Event, view: View) -> bool:
    """A CUDA failure in the code that maps shared memory (src/misc/shmutils.cc, later src/os/linux.cc).

    Not one that CUDA merely repeats: memory used up, or a kernel that failed before.
    """
    if not (event.file or "").endswith(_SHM_FILES):
        return False
    return not view.get(event, "is_kernel_fault") and not view.get(event, "is_cuda_memory_failure")


@derived_of("ib-modify-qp-failed")
def lacks_path(event: Event, view: View) -> bool:
    """Did a queue pair find no path to its peer (errno 110), or fail for a reason that the line does not tell?"""
    told = event.fields.get("errno") is not None or bool(event.fields.get("error"))
    return not told or bool(view.get(event, "reason") == "timed-out")


@derived
def path_problem(event: Event, view: View) -> str:
    """The part of a sentence that says why a queue pair found no path to its peer."""
    if view.get(event, "reason") == "timed-out":
        return "no path to the peer's RDMA address (ibv_modify_qp: Connection timed out)"
    return "a queue pair could not be connected to its peer (ibv_modify_qp; the line was cut before the reason)"


@derived_of("ib-modify-qp-failed", "ib-completion-error")
def crosses_subnets(event: Event, view: View) -> bool | None:
    """Did a queue pair fail to reach a GID outside the IP network of the card that it started from?

    None when the prefix of that network was not shown.
    """
    refused = event.event == "ib-modify-qp-failed" and view.get(event, "reason") in {"unreachable", "timed-out"}
    if not refused and not (event.event == "ib-completion-error" and event.fields.get("status") == _RETRIES_EXCEEDED):
        return False
    local, remote = (_ipv4(event.fields.get(name)) for name in ("local_gid", "remote_gid"))
    if local is None or remote is None:
        return None
    for host in view.job.hosts:
        for interface in host.interfaces:
            for address in interface.addresses or ():
                if address.ip == str(local) and address.prefix_len is not None:
                    view.note(event)
                    view.note(interface)
                    network = ipaddress.ip_network(f"{address.ip}/{address.prefix_len}", strict=False)
                    return remote not in network
    return None


def _ipv4(gid: object) -> ipaddress.IPv4Address | None:
    """The IPv4 address that a GID holds."""
    address = ip_address(str(gid)) if gid else None
    if isinstance(address, ipaddress.IPv6Address):
        return address.ipv4_mapped
    return address if isinstance(address, ipaddress.IPv4Address) else None
