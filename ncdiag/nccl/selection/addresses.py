"""The addresses of a host in the order in which NCCL reads them, and the subnet test of NCCL_COMM_ID."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from ncdiag.facts.model import Address, Interface
from ncdiag.facts.scalars import ip_address

IPV4, IPV6 = 4, 6
_RUNNING_STATES = {"up", "unknown"}


class Entry(msgspec.Struct, frozen=True):
    """One address as getifaddrs returns it; None means unknown: the interface may have an address of this family."""

    interface: Interface
    family: int
    address: Address | None


def kernel_order(interfaces: Sequence[Interface]) -> Iterator[Entry]:
    """Yield all addresses as getifaddrs lists them: IPv4 of every interface in kernel order, then IPv6.

    glibc passes on the kernel's dump, which goes family by family (net/core/rtnetlink.c, rtnl_dump_all), so an
    interface with IPv6 only comes after all those with IPv4. ``interfaces`` must be in kernel order.
    """
    for family in (IPV4, IPV6):
        for interface in interfaces:
            if interface.addresses is None:
                yield Entry(interface, family, None)
            for address in interface.addresses or ():
                if (parsed := ip_address(address.ip)) is not None and parsed.version == family:
                    yield Entry(interface, family, address)


def is_running(interface: Interface) -> bool | None:
    """Is IFF_RUNNING set? Computed from the state where the flag was not seen, None when neither was.

    The kernel sets the flag on an interface that is up with operstate up or unknown (net/core/dev.c, dev_get_flags).
    """
    if interface.running is not None:
        return interface.running
    if interface.up is False:
        return False
    if interface.operstate is None:
        return None
    return interface.up if interface.operstate.lower() in _RUNNING_STATES else False


class CommId(msgspec.Struct, frozen=True):
    """NCCL_COMM_ID after parsing: an address with the interface name after ``%``, a host name, or nothing valid."""

    kind: Literal["address", "host", "invalid"]
    ip: str = ""
    zone: str | None = None


def parse_comm_id(text: str) -> CommId:
    """Parse ``10.0.0.1:1234``, ``host:1234`` or ``[fe80::1%eth0]:1234``.

    Source: ncclSocketGetAddrFromString, src/misc/socket.cc:234 (v2.30.7-1).
    """
    if len(text) <= 1:
        return CommId("invalid")
    if text.startswith("["):
        inside, bracket, _ = text[1:].partition("]")
        ip, percent, zone = inside.partition("%")
        parsed = ip_address(ip)
        if not bracket:
            return CommId("invalid")
        valid = parsed is not None and parsed.version == IPV6  # what inet_pton rejects becomes the zero address
        return CommId("address", ip if valid else "", zone if percent else None)
    name = next((item.split(":", 1)[0] for item in text.split(",") if not item.startswith(":") and item), "")
    if not name:
        return CommId("invalid")
    try:
        return CommId("address", str(ipaddress.IPv4Address(name)))
    except ValueError:
        return CommId("host", name)


def in_subnet(entry: Entry, comm_id: CommId) -> bool | None:
    """Is the address of NCCL_COMM_ID in the subnet of this entry? Link-local addresses must name the same interface.

    None when the address or its prefix length is not known. Source: matchSubnet, src/os/linux.cc:444 (v2.30.7-1).
    """
    remote = ip_address(comm_id.ip)
    if remote is None or remote.version != entry.family:
        return False
    if entry.address is None or entry.address.prefix_len is None:
        return None
    try:
        network = ipaddress.ip_network(f"{entry.address.ip.split('%')[0]}/{entry.address.prefix_len}", strict=False)
    except ValueError:
        return None
    local = ip_address(entry.address.ip)
    scope = entry.interface.name if entry.family == IPV6 and local is not None and local.is_link_local else None
    return remote in network and scope == comm_id.zone
