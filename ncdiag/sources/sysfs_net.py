"""Network interfaces and routes from ``/sys/class/net`` and ``/proc/net``, in the kernel's order (by ifindex).

The order matters: NCCL takes the first interface that fits (src/misc/socket.cc, findInterfaces walks getifaddrs).
Formats: kernel Documentation/ABI/testing/sysfs-class-net; flags and ARPHRD types from include/uapi/linux/if.h, if_arp.h.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from typing import Any

from ncdiag.facts.observe import Observation
from ncdiag.sources.sysfs_rdma import uevent
from ncdiag.sources.tree import Tree

INTERFACES = "sys/class/net"

_UP = 0x1  # IFF_UP
_REACHES = ("up", "unknown")  # netif_oper_up: IFF_RUNNING is shown in these states (net/core/dev.c, dev_get_flags)
_TYPES = {  # ARPHRD_*
    "772": "loopback", "32": "ipoib", "768": "tunnel", "769": "tunnel", "776": "tunnel", "778": "tunnel", "823": "tunnel",
    "512": "tunnel", "65534": "tunnel", "801": "wireless", "802": "wireless", "803": "wireless",
}  # fmt: skip
_DEVTYPES = {
    "vlan": "vlan", "bridge": "bridge", "bond": "bond", "wlan": "wireless", "vxlan": "tunnel", "geneve": "tunnel",
    "gre": "tunnel", "gretap": "tunnel", "ip6gre": "tunnel", "ip6gretap": "tunnel", "wireguard": "tunnel", "ppp": "tunnel",
    "gtp": "tunnel", "erspan": "tunnel", "macvlan": "virtual", "macvtap": "virtual", "ipvlan": "virtual", "netkit": "veth",
}  # fmt: skip


def interfaces(tree: Tree) -> Iterator[Observation]:
    """All interfaces without their addresses, which `ncdiag.sources.sockets` adds."""
    for _, name in ordered(tree) or ():
        yield from _interface(tree, name)


def ordered(tree: Tree) -> list[tuple[int, str]] | None:
    """(ifindex, name) of all interfaces in the kernel's order; None when the folder cannot be read."""
    names = tree.names(INTERFACES)
    if names is None:
        return None
    numbered = [(tree.number(f"{INTERFACES}/{name}/ifindex"), name) for name in names if _is_interface(tree, name)]
    return sorted((1 << 31 if index is None else index, name) for index, name in numbered)


def _is_interface(tree: Tree, name: str) -> bool:
    return tree.exists(f"{INTERFACES}/{name}/type")  # bonding_masters is a file


def _interface(tree: Tree, name: str) -> Iterator[Observation]:
    base = f"{INTERFACES}/{name}"

    def told(file: str, text: str | None = None, **fields: Any) -> Iterator[Observation]:  # noqa: ANN401
        if any(value is not None for value in fields.values()):
            yield tree.fact(f"{base}/{file}", "Interface", name, text=text, **fields)

    evidence, kind = kind_of_interface(tree, name)
    yield tree.fact(f"{base}/{evidence}" if evidence else base, "Interface", name, text=name, line=0, kind=kind)
    yield from told("ifindex", ifindex=tree.number(f"{base}/ifindex"))
    flags = tree.number(f"{base}/flags", 0)
    up = None if flags is None else bool(flags & _UP)
    yield from told("flags", up=up)
    state = tree.text(f"{base}/operstate")
    yield from told(
        "operstate", operstate=state, running=None if None in (state, up) else bool(up) and state in _REACHES
    )
    yield from told("mtu", mtu=tree.number(f"{base}/mtu"))
    speed = tree.number(f"{base}/speed")  # -1 or EINVAL where the device has none, or is down
    yield from told("speed", speed_mbps=speed if speed and speed > 0 else None)
    yield from told("address", mac=tree.text(f"{base}/address"))
    master = tree.target(f"{base}/master")
    yield from told("master", text=master, master=master)
    slaves = (tree.text(f"{base}/bonding/slaves") or "").split()
    yield from told("bonding/slaves", slaves=slaves or None)
    ports = tree.names(f"{base}/brif")
    yield from told("brif", text=" ".join(ports or ()), slaves=ports or None)


def kind_of_interface(tree: Tree, name: str) -> tuple[str, str]:
    """(file that tells it, kind). Without a device behind it an interface is virtual, whatever it is called."""
    base = f"{INTERFACES}/{name}"
    for folder, kind in (("bridge", "bridge"), ("bonding", "bond"), ("tun_flags", "tunnel"), ("wireless", "wireless")):
        if tree.exists(f"{base}/{folder}"):
            return folder, kind
    by_type = _TYPES.get(tree.text(f"{base}/type") or "")
    if by_type:
        return "type", by_type
    by_devtype = _DEVTYPES.get(uevent(tree, base).get("DEVTYPE", ""))
    if by_devtype:
        return "uevent", by_devtype
    if tree.exists(f"proc/net/vlan/{name}"):
        return "", "vlan"
    if tree.exists(f"{base}/device"):
        return "device", "physical"
    return _paired(tree, base)


def _paired(tree: Tree, base: str) -> tuple[str, str]:
    """A veth is linked to an interface (its peer, perhaps in another namespace) without standing on it."""
    own, other = tree.number(f"{base}/ifindex"), tree.number(f"{base}/iflink")
    stacked = any(name.startswith("lower_") for name in tree.names(base) or ())
    if None not in (own, other) and own != other and not stacked:
        return "iflink", "veth"
    return "", "virtual"


def routes(tree: Tree) -> Iterator[Observation]:
    """Routes of the main table that are up, IPv4 then IPv6; default routes as ``default``."""
    tables = [("proc/net/route", _route4), ("proc/net/ipv6_route", _route6)]
    seen = 0
    for path, read in tables:
        lines = tree.lines(path)
        seen += lines is not None
        for index, line in enumerate(lines or ()):
            fields = read(line.split())
            if fields:
                destination, interface = fields.pop("destination"), fields.pop("interface")
                yield tree.fact(path, "Route", destination, interface, text=line, line=index + 1, **fields)
    if seen == len(tables):
        yield tree.whole("proc/net", "routes")


_ROUTE_UP, _ROUTE_REJECT = 0x1, 0x200


def _route4(words: list[str]) -> dict[str, Any] | None:
    """Columns of /proc/net/route: Iface Destination Gateway Flags RefCnt Use Metric Mask ...; addresses in host order."""
    try:
        interface, flags, metric = words[0], int(words[3], 16), int(words[6])
        destination, gateway, mask = (_ipv4(words[column]) for column in (1, 2, 7))
        network = ipaddress.IPv4Network(f"{destination}/{mask}")
    except (ValueError, IndexError):
        return None
    if not flags & _ROUTE_UP or flags & _ROUTE_REJECT:
        return None
    return _route(interface, str(network), "0.0.0.0/0", str(gateway) if int(gateway) else None, metric)


def _ipv4(text: str) -> ipaddress.IPv4Address:
    return ipaddress.IPv4Address(int(text, 16).to_bytes(4, "little"))


def _route6(words: list[str]) -> dict[str, Any] | None:
    """Columns of /proc/net/ipv6_route: network, prefix, source, prefix, gateway, metric, refcount, use, flags, interface."""
    try:
        network = ipaddress.IPv6Network((int(words[0], 16), int(words[1], 16)))
        gateway, metric, flags, interface = (
            ipaddress.IPv6Address(int(words[4], 16)),
            int(words[5], 16),
            int(words[8], 16),
            words[9],
        )
    except (ValueError, IndexError):
        return None
    local = network.prefixlen == network.max_prefixlen or network.is_multicast
    if not flags & _ROUTE_UP or flags & _ROUTE_REJECT or local or interface == "lo":
        return None
    return _route(interface, str(network), "::/0", str(gateway) if int(gateway) else None, metric)


def _route(interface: str, network: str, everything: str, gateway: str | None, metric: int) -> dict[str, Any]:
    destination = "default" if network == everything else network
    return {"destination": destination, "interface": interface, "gateway": gateway, "metric": metric}
