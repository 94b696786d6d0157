"""The interfaces that were seen on each host, and which of them could carry the traffic of a job."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from ncdiag.facts.model import Address, Host, Interface
from ncdiag.facts.model.declared import is_closed
from ncdiag.facts.scalars import ip_address
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.interfaces import ip, is_link_local, is_loopback, is_own_bridge, is_virtual
from ncdiag.facts.vocabulary.interfaces import ip as ip_of
from ncdiag.facts.vocabulary.job import is_multi_host
from ncdiag.nccl import versions
from ncdiag.nccl.on_host.in_force import settings_of
from ncdiag.nccl.selection.names import NameList

PREFERENCE = {"physical": 0, "bond": 0, "ipoib": 0, "vlan": 1, None: 2, "bridge": 3, "wireless": 4}


_FAMILY = "NCCL_SOCKET_FAMILY"
_LEFT_OUT = ("docker", "lo", "virbr")
"""Name prefixes that a list printed by NCCL may omit, since its default considers them last."""


class Seen(msgspec.Struct, frozen=True):
    """The interfaces of a host in kernel order; ``origin``: ``all`` of them, only those in the ``log``, or ``none``.

    Those in a log are the interfaces that NCCL could choose from with its settings at that time.
    """

    host: str
    interfaces: tuple[Interface, ...]
    origin: Literal["all", "log", "none"]


def hosts(view: View) -> tuple[str, ...]:
    """Return the names of the hosts in the job: those with ranks where ranks are known, else all."""
    running = tuple(dict.fromkeys(rank.host for rank in view.job.ranks))
    return running or tuple(host.name for host in view.job.hosts)


def unseen(view: View) -> int:
    """Return the number of hosts in the job about which nothing was seen, as far as known (at least 1 for "some")."""
    named = len(hosts(view))
    if view.job.nhosts is not None:
        return max(0, view.job.nhosts - named)
    return 1 if named <= 1 and is_multi_host(view.job, view) else 0


def interfaces(name: str, view: View) -> Seen:
    """Return what is known about the interfaces of a host."""
    host = view.host(name)
    if host is not None and is_closed(host, "interfaces"):
        return Seen(name, kernel_order(host), "all")
    for rank in view.ranks_on(name):
        if rank.socket_interfaces:
            return Seen(name, tuple(map(_announced, rank.socket_interfaces)), "log")
    for rank in view.ranks_on(name):
        if rank.bootstrap_interface is not None:
            return Seen(name, (_announced(rank.bootstrap_interface),), "log")
    if host is not None and any(interface.addresses for interface in host.interfaces):
        return Seen(name, kernel_order(host), "log")
    return Seen(name, (), "none")


def with_listed(name: str, view: View) -> Seen:
    """The same, with the interfaces of an incomplete listing (``ip -4 addr``) beside those in a log."""
    found, host = interfaces(name, view), view.host(name)
    if found.origin != "log" or host is None:
        return found
    listed = {each.name: each for each in kernel_order(host) if each.addresses}
    own = [listed.pop(each.name, each) for each in found.interfaces]
    return Seen(name, (*map(_announced, own), *listed.values()), "log")


def kernel_order(host: Host) -> tuple[Interface, ...]:
    """Return interfaces by index where every index is known: a log read before `ip addr` may have another order."""
    if all(interface.ifindex is not None for interface in host.interfaces):
        return tuple(sorted(host.interfaces, key=lambda interface: interface.ifindex or 0))
    return host.interfaces


def _announced(interface: Interface) -> Interface:
    """An interface that NCCL listed: it was running then, or the release does not check that."""
    return interface if interface.running is not None else msgspec.structs.replace(interface, running=True)


def suits(interface: Interface, view: View, others: tuple[Interface, ...]) -> bool | None:
    """Could the interface carry traffic to other hosts? None when its kind or address is not known.

    A virtual interface does if all interfaces of the host were seen and it is the only one besides loopback: inside a
    pod there is no other. A log does not show that, and the host's own bridge (docker0, cni0) is in no pod.
    """
    if is_loopback(interface, view) or interface.up is False or interface.running is False:
        return False
    if interface.addresses == () or is_link_local(interface, view):
        return False
    virtual = is_virtual(interface, view)
    if virtual:
        host = view.host(interface.host)
        if host is None or not is_closed(host, "interfaces") or is_own_bridge(interface, view):
            return False
        rivals = [i for i in others if i.name != interface.name and i.addresses != ()]
        return all(is_loopback(rival, view) for rival in rivals)
    known = virtual is False and ip(interface, view) is not None
    return True if known else None


def address(interface: Interface, view: View) -> Address | None:
    """Return the address that NCCL uses on an interface, with its prefix length; None without one."""
    ip = ip_of(interface, view)
    return next((a for a in interface.addresses or () if a.ip == ip), None)


def same_network(left: Address, right: Address) -> bool | None:
    """Are two addresses in one network? None when neither prefix length is known."""
    one, other = ip_address(left.ip), ip_address(right.ip)
    if one is None or other is None:
        return None
    if one.version != other.version:
        return False
    lengths = [length for length in (left.prefix_len, right.prefix_len) if length is not None]
    if not lengths:
        return None
    shift = one.max_prefixlen - min(max(lengths), one.max_prefixlen)
    return int(one) >> shift == int(other) >> shift


def with_loopback(host: Seen) -> tuple[Interface, ...]:
    """Return the interfaces with lo as the first, as every Linux host has it; a list from a log never includes it."""
    if host.origin == "all" or any(interface.name == "lo" for interface in host.interfaces):
        return host.interfaces
    lo = Interface(
        host=host.host, name="lo", kind="loopback", up=True, running=True, ifindex=1,
        addresses=(Address("127.0.0.1", 8),),
    )  # fmt: skip
    return (lo, *host.interfaces)


def hides_family(view: View, host: Seen, after: Mapping[str, str]) -> bool:
    """Does the log list the addresses of one family only, because NCCL_SOCKET_FAMILY had another value?"""
    known = view.host(host.host)
    before = settings_of(known, view) if known is not None else {}
    return host.origin != "all" and before.get(_FAMILY) not in {None, after.get(_FAMILY)}


def may_be_hidden(view: View, host: Seen, after: Mapping[str, str]) -> str:
    """Return why interfaces missing from a log could matter for these variables; empty when they cannot."""
    wanted = after.get("NCCL_SOCKET_IFNAME", "")
    if host.origin == "all" or "NCCL_COMM_ID" in after:
        return "" if host.origin == "all" else "all interfaces"
    version = view.version(view.host(host.host))
    names = NameList.parse(wanted, version.low if version else versions.as_range(None).low)
    if names.exact and not names.exclude and names.items:
        return ""  # each name occurs once
    listed = any(rank.socket_interfaces for rank in view.ranks_on(host.host))
    known = view.host(host.host)
    before = settings_of(known, view) if known is not None else {}
    automatic = "NCCL_SOCKET_IFNAME" not in before and not any(i.name.startswith("ib") for i in host.interfaces)
    if not (listed and automatic):
        return "all interfaces"
    touched = names.exclude or any(
        item.name.startswith(left) or left.startswith(item.name) for item in names.items for left in _LEFT_OUT
    )
    return f"interfaces such as {', '.join(_LEFT_OUT)}" if touched else ""
