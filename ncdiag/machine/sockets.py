"""Addresses and default gateways: from psutil and netifaces, else from ``ip -j addr`` and the kernel's tables.

The order matters: NCCL uses the first suitable interface of getifaddrs, which lists IPv4 addresses before IPv6. psutil
keeps that order within a family and also lists IPv4 first, so its order of interfaces is that of getifaddrs.
"""

from __future__ import annotations

import contextlib
import ipaddress
import json
import socket
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.observe import Observation
from ncdiag.machine import sysfs_net
from ncdiag.machine.command import run_command
from ncdiag.machine.sysfs_net import INTERFACES, ordered
from ncdiag.machine.tree import Tree

Addresses = Mapping[str, Sequence[Mapping[str, Any]]]
"""For each interface name its addresses, each with the fields of `ncdiag.facts.model.Address`."""

_LEAF = lazy_regex(r"\s+(?:\+--|\|--) (?P<ip>[\d.]+)(?:/\d+ .*)?$")
_LOCAL = lazy_regex(r"\s+/32 host LOCAL$")
_NARROWNESS = {"40": 1, "20": 2, "10": 3}
"""Rank of the scopes of /proc/net/if_inet6 that are narrower than global: site, link, host (include/net/ipv6.h)."""


def interfaces(tree: Tree) -> Iterator[Observation]:
    """All interfaces with their addresses, and the default gateways (only from a live machine)."""
    known = tree.ask("addresses", lambda: live_addresses() or _by_ip())
    yield from sysfs_net.interfaces(tree, known or ())
    yield from addresses(tree, known)
    yield from gateways(tree)


def _by_ip() -> Addresses | None:
    return addresses_from_json("\n".join(run_command(["ip", "-j", "addr"], 5.0).output))


def addresses(tree: Tree, known: Addresses | None) -> Iterator[Observation]:
    """An observation with the addresses of each interface.

    ``known`` is the result of `live_addresses` for this machine.

    Marks the list as complete if both the names and the addresses could be read.
    """
    found, path = (known, INTERFACES) if known is not None else (recorded_addresses(tree), "proc/net")
    names = ordered(tree, found or ())
    for name in names or found or ():
        if found is not None:
            mine = list(found.get(name, ()))
            text = " ".join(f"{item['ip']}/{item.get('prefix_len', '?')}" for item in mine)
            yield tree.fact(f"{INTERFACES}/{name}", "Interface", name, text=text, line=0, addresses=mine)
    if found is not None and names is not None:
        yield tree.whole(path, "interfaces")


def live_addresses() -> Addresses | None:
    """Addresses in this network namespace by psutil; None if it is not installed or fails."""
    try:
        import psutil

        listed = psutil.net_if_addrs()
    except (ImportError, OSError, RuntimeError):
        return None
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for name, items in listed.items():
        for item in items:
            if item.family in {socket.AF_INET, socket.AF_INET6}:
                found[name].append(_address(item.address, _prefix_len(item.netmask), item.ptp))
    return found


def addresses_from_json(text: str) -> Addresses | None:
    """Parse ``ip -j addr`` (iproute2); None if the text is not such an output."""
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    try:
        for link in json.loads(text):
            for item in link["addr_info"]:
                if item.get("family") in {"inet", "inet6"} and "local" in item:
                    found[str(link["ifname"])].append(
                        _address(item["local"], item.get("prefixlen"), item.get("address"))
                    )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return found


def _address(ip: str, prefix_len: int | None, peer: str | None) -> dict[str, Any]:
    fields = {"ip": str(ip).split("%", 1)[0], "prefix_len": prefix_len, "peer": peer}
    return {name: value for name, value in fields.items() if value is not None}


def _prefix_len(netmask: str | None) -> int | None:
    try:
        return int(ipaddress.ip_address(netmask or "")).bit_count()
    except ValueError:
        return None


def recorded_addresses(tree: Tree) -> Addresses | None:
    """Addresses from the kernel's tables, for a recorded tree; None without the tables.

    IPv6 addresses come with their interface (/proc/net/if_inet6), in no order: they are sorted by scope, widest first
    (ipv6_link_dev_addr, net/ipv6/addrconf.c). An IPv4 address (/proc/net/fib_trie) belongs to the interface whose
    connected route (/proc/net/route) contains it; it is left out if there are several.
    """
    trie, table, six = (tree.lines(f"proc/net/{name}") for name in ("fib_trie", "route", "if_inet6"))
    if trie is None or table is None:
        return None
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    connected = list(_connected(table))
    for ip in dict.fromkeys(_local_ipv4(trie)):
        address = ipaddress.IPv4Address(ip)
        if address.is_loopback:
            found["lo"].append({"ip": ip, "prefix_len": 8})
            continue
        homes = [(network.prefixlen, name) for network, name in connected if address in network]
        longest = max((length for length, _ in homes), default=0)
        names = {name for length, name in homes if length == longest}
        if len(names) == 1:
            found[names.pop()].append({"ip": ip, "prefix_len": longest})
    for _, name, ip, length in sorted(_ipv6(six or ()), key=lambda row: row[0]):
        found[name].append({"ip": ip, "prefix_len": length})
    return found


def _ipv6(table: Sequence[str]) -> Iterator[tuple[int, str, str, int]]:
    """(rank of the scope, global is 0; interface; address; prefix length) of each line."""
    for line in table:
        words = line.split()
        if len(words) == 6:  # noqa: PLR2004  (address, ifindex, length, scope, flags, name)
            with contextlib.suppress(ValueError):
                ip = str(ipaddress.IPv6Address(int(words[0], 16)))
                yield _NARROWNESS.get(words[3], 0), words[5], ip, int(words[2], 16)


def _connected(table: Sequence[str]) -> Iterator[tuple[ipaddress.IPv4Network, str]]:
    for line in table[1:]:
        words = line.split()
        try:
            destination, gateway, mask = (int(words[column], 16).to_bytes(4, "little") for column in (1, 2, 7))
            network = ipaddress.IPv4Network((destination, str(ipaddress.IPv4Address(mask))))
        except (ValueError, IndexError, OverflowError):
            continue
        if not any(gateway) and network.prefixlen:
            yield network, words[0]


def _local_ipv4(trie: Sequence[str]) -> Iterator[str]:
    """The addresses of this host: leaves of the trie marked ``/32 host LOCAL``."""
    leaf = None
    for line in trie:
        found = _LEAF.match(line)
        if found:
            leaf = found["ip"]
        elif leaf and _LOCAL.match(line):
            try:
                yield str(ipaddress.IPv4Address(leaf))
            except ValueError:
                leaf = None


def gateways(tree: Tree) -> Iterator[Observation]:
    """Default routes of a live machine, by netifaces; without it, the route tables give the same."""
    for destination, gateway, interface in tree.ask("default gateways", _gateways) or ():
        text = f"default via {gateway} dev {interface}"
        yield tree.fact("proc/net", "Route", destination, interface, text=text, line=0, gateway=gateway)


def _gateways() -> list[tuple[str, str, str]]:
    """(destination, gateway, interface) of each default route; empty without netifaces."""
    try:
        import netifaces

        listed: Any = netifaces.gateways().get("default", {})
    except (ImportError, OSError, RuntimeError):
        return []
    return [
        ("default" if family == socket.AF_INET else "::/0", gateway, interface)
        for family, (gateway, interface) in listed.items()
    ]
