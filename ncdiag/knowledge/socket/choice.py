"""The interface that NCCL would choose on a host before any job ran there, and what is wrong with it.

A job's own log takes precedence: where ranks show the addresses they announced, rules about `job.advertised` apply.
"""

from __future__ import annotations

from ncdiag.facts.assemble_hosts import UNNAMED
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Host, Interface, Job
from ncdiag.facts.model.declared import is_closed
from ncdiag.facts.scalars import in_network, ip_address
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.addresses import is_of_job, ofi_failed
from ncdiag.facts.vocabulary.hosts import sysctl
from ncdiag.facts.vocabulary.interfaces import ip, is_dead, is_link_local, is_loopback, is_virtual, likely_kind
from ncdiag.facts.vocabulary.job import is_multi_host
from ncdiag.nccl import versions
from ncdiag.nccl.on_host.in_force import settings_of
from ncdiag.nccl.on_host.nameless import of_like
from ncdiag.nccl.on_host.seen import kernel_order
from ncdiag.nccl.selection import sockets

_INSIDE = {"bridge": "a bridge", "tunnel": "a tunnel or VPN", "veth": "one end of a pair of virtual interfaces"}


@derived
def own_choice(host: Host, view: View) -> tuple[Interface, ...] | None:
    """The interface over which ranks of this host would meet the others; empty for none, None where it is not known.

    By the installed library's answer, else the choice of the known release, else that of the newest one. Only for hosts
    whose interfaces and variables were seen, and that are in no log of a job.
    """
    if not is_closed(host, "interfaces") or not (host.looked_at or is_closed(host, "settings")):
        return () if view.ranks_on(host.name) else None
    names = {rank.bootstrap_interface.name for rank in view.ranks_on(host.name) if rank.bootstrap_interface is not None}
    if not names and not view.ranks_on(host.name):
        names = set(of_like(host, view, "own choice", _simulated))
    found = [interface for interface in host.interfaces if interface.name in names]
    for interface in found:
        view.note(interface, "addresses")
    return tuple(found) if len(found) == 1 else ()


def _simulated(host: Host, view: View) -> tuple[str, ...]:
    interfaces, settings = kernel_order(host), settings_of(host, view)
    version = view.version(host)
    choice = sockets.bootstrap(interfaces, settings, version)
    if not choice.known:
        newest = version.high if version is not None else versions.LATEST_READ
        choice = sockets.bootstrap(interfaces, settings, min(newest, versions.LATEST_READ))
    return choice.names if choice.known else ()


@derived
def inside_reason(interface: Interface, view: View) -> str:
    """Why data sent over it does not usually reach another host, ``a tunnel or VPN``; empty for no reason."""
    if is_loopback(interface, view):
        return "loopback, which reaches only this host"
    address = ip_address(ip(interface, view) or "")
    if address is not None and address.is_loopback:
        return "an address of loopback, which reaches only this host"
    if is_dead(interface, view):
        return "it has no link"
    if is_virtual(interface, view):
        kind = likely_kind(interface, view)
        return f"{_INSIDE.get(str(kind), 'a virtual interface')}, which other hosts usually cannot reach"
    return "its address is link-local, which no router forwards" if is_link_local(interface, view) else ""


@derived
def better_interface(interface: Interface, view: View) -> str:
    """The first other interface of the host with an address that leads out; empty for none.

    One that has lost its link counts, since it is the intended one.
    """
    host = view.host(interface.host)
    for other in host.interfaces if host is not None else ():
        inside = is_loopback(other, view) or is_virtual(other, view) or is_link_local(other, view)
        if other.name != interface.name and not inside and other.addresses:
            view.note(other, "addresses")
            return other.name
    return ""


_USUAL_PORTS = "32768-60999"
"""The kernel's default range for ports that a program does not choose (ip-sysctl, ip_local_port_range)."""


@derived
def listening_range(host: Host, view: View) -> str:
    """The ports on which ranks of this host listen, ``32768-60999``; the kernel chooses among them."""
    words = (sysctl(host, "net.ipv4.ip_local_port_range") or "").split()
    return "-".join(words) or _USUAL_PORTS


@derived
def is_filtered(interface: Interface, view: View) -> bool | None:
    """Does the host's packet filter drop incoming packets on this interface unless a rule allows them?

    False where a rule allows everything on the interface or from its network; None where no filter was shown.
    """
    host = view.host(interface.host)
    if host is None or host.input_policy is None:
        return None
    allowed, address = host.input_allows or (), ip(interface, view)
    if interface.name in allowed or (address is not None and any(in_network(address, network) for network in allowed)):
        return False
    view.note(host, "input_policy")
    return host.input_policy == "drop"


@derived
def is_judged_by_ranks(interface: Interface, view: View) -> bool:
    """Did ranks of a job announce the interface, so that the rules about announced addresses cover it?"""
    told = any(
        rank.bootstrap_interface is not None and rank.bootstrap_interface.name == interface.name
        for rank in view.ranks_on(interface.host) if is_of_job(rank, view)
    )  # fmt: skip
    several = is_multi_host(view.job, view)
    return told and (several is True or not is_loopback(interface, view)) and not ofi_failed(view.job, view)


@derived
def address_twice_on_hosts(job: Job, view: View) -> str | None:
    """Hosts that announce equal addresses, or would, ``n1 and n2 both announce 10.0.0.5``; empty for none.

    None where fewer than two hosts have a known choice. A host without a name may be one of the others: of a line that
    was cut.
    """
    first: dict[str, tuple[str, Interface]] = {}
    hosts: set[str | None] = set()
    for host in job.hosts:
        logged = (rank.bootstrap_interface for rank in view.ranks_on(host.name))
        for interface in (*(own_choice(host, view) or ()), *filter(None, logged)):
            address = ip(interface, view)
            if address is None or host.name == UNNAMED or inside_reason(interface, view):
                continue
            hosts.add(host.name)
            name, other = first.setdefault(address, (host.name, interface))
            if name != host.name:
                view.note(other, "addresses")
                view.note(interface, "addresses")
                return f"{name} and {host.name} both announce {address}"
    return "" if len(hosts) > 1 else None
