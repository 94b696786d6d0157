"""Failed connections of programs other than NCCL: which program, and where the peer's address leads."""

from __future__ import annotations

import re

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived, derived_of
from ncdiag.facts.model import Event
from ncdiag.facts.scalars import in_network, ip_address
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.addresses import peer_ip
from ncdiag.facts.vocabulary.interfaces import is_virtual
from ncdiag.facts.vocabulary.job import is_multi_host
from ncdiag.messages.vocabulary.reasons import reason

SPEAKERS: dict[str, str] = {
    "mpi-tcp-connect-failed": "Open MPI",
    "mpich-connect-failed": "MPICH",
    "ucx-connect-failed": "UCX",
    "gloo-connect-failed": "Gloo",
    "grpc-connect-failed": "gRPC",
    "tensorpipe-connect-failed": "TensorPipe",
    "mooncake-connect-failed": "Mooncake",
    "dask-connect-failed": "Dask",
    "ray-connect-failed": "Ray",
    "pslite-node": "ps-lite",
}
"""The program, by the event in which it names a peer's address; each has its own variables for its interface."""
_LOCAL_SERVICES = frozenset({"grpc-connect-failed"})
"""Programs whose connections to loopback usually go to a service of the same host."""
_SAME_EVERYWHERE = (
    (r"172\.(?:1[7-9]|2\d|3[01])\.0\.1$", "Docker's bridge"),
    (r"192\.168\.122\.1$", "libvirt's bridge"),
    (r"10\.88\.0\.1$", "Podman's bridge"),
    (r"192\.168\.56\.1$", "VirtualBox's host-only network"),
)
"""Networks that bridges have on every host by default.

Sources: moby/moby daemon/libnetwork/ipamutils, libvirt's network ``default``, containers/common (default_subnet), the
manual of VirtualBox, 6.7.
"""
_ADDRESS = lazy_regex(r"(?<![\d./])\d{1,3}(?:\.\d{1,3}){3}(?![\d./])")
_DOCKER = "172.17.0.0/16"


@derived
def speaker(event: Event, view: View) -> str:
    """The program other than NCCL that names the address of a peer, such as ``UCX``; empty for other lines."""
    return SPEAKERS.get(event.event, "")


@derived
def aimed_ip(event: Event, view: View) -> str | None:
    """The address to which a program connects, or asks its peers to connect; None where the line has none."""
    own = event.fields.get("node_address")
    return own if isinstance(own, str) and ip_address(own) else peer_ip(event, view)


@derived
def leads_nowhere(event: Event, view: View) -> str | None:
    """Why no other host is reached at the address: ``the address of Docker's bridge, which every host has``.

    Empty for an address that may be a host's, and in a job on one host. None where the line has no address, where the
    interface that has it was not shown, or for loopback where it is not known whether there are several hosts.
    """
    ip = aimed_ip(event, view)
    address = ip_address(ip or "")
    several = is_multi_host(view.job, view)
    if ip is None or address is None:
        return None
    if several is False or (address.is_loopback and event.event in _LOCAL_SERVICES):
        return ""
    if address.is_loopback:
        return "a loopback address, at which each host reaches itself" if several or _calls_another(view) else None
    if address.is_link_local:
        return "a link-local address, which is valid only on one link and may be the same on every host"
    for pattern, name in _SAME_EVERYWHERE:
        if re.match(pattern, ip):
            return f"the address of {name}, which every host may have"
    return _by_interface(ip, view)


def _calls_another(view: View) -> bool:
    """Does a command that starts a program name the address of another host?"""
    for launch in view.job.launches:
        found = (ip_address(text) for text in _ADDRESS.findall(launch.text))
        if any(ip is not None and not ip.is_loopback and not ip.is_unspecified for ip in found):
            view.note(launch)
            return True
    return False


def _by_interface(ip: str, view: View) -> str | None:
    """Why no other host is reached at the address, by the interface that has it; None where that was not shown."""
    for host in view.job.hosts:
        for interface in host.interfaces:
            if any(a.ip == ip for a in interface.addresses or ()):
                view.note(interface)
                inside = is_virtual(interface, view)
                return f"the address of {interface.name} on {host.name}, which leads to no other host" if inside else ""
    return "an address of Docker's own network, which no other host reaches" if in_network(ip, _DOCKER) else None


_NO_ANSWER = frozenset({"timed-out", "unreachable"})
_BY_EVENT = frozenset({"dask-connect-failed", "ray-connect-failed"})
"""Lines that give a time in place of an error."""


@derived_of(*SPEAKERS)
def is_unanswered(event: Event, view: View) -> bool:
    """Was there no answer at an address that may be a host's? Dask and Ray report this without an error."""
    silent = event.event in _BY_EVENT or reason(event, view) in _NO_ANSWER
    return silent and not leads_nowhere(event, view)
