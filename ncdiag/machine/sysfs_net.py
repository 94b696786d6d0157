"""Network interfaces and routes from ``/sys/class/net`` and ``/proc/net``, in the kernel's order.

The order matters: NCCL takes the first interface that fits (src/misc/socket.cc, findInterfaces walks getifaddrs).
Formats: kernel Documentation/ABI/testing/sysfs-class-net; flags and types from include/uapi/linux/if.h and if_arp.h.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Iterator

from ncdiag.facts.observe import Observation
from ncdiag.machine.sysfs_rdma import pci_address, uevent
from ncdiag.machine.tree import Tree

INTERFACES = "sys/class/net"

_UP = 0x1  # IFF_UP
_REACHES = ("up", "unknown")  # IFF_RUNNING is set in these states (net/core/dev.c, dev_get_flags: netif_oper_up)
_TYPES = {"772": "loopback", "32": "ipoib"} | dict.fromkeys(("801", "802", "803"), "wireless")  # ARPHRD_*
_TYPES |= dict.fromkeys(("512", "768", "769", "776", "778", "823", "65534"), "tunnel")  # ppp, ipip, sit, gre, tun
_DEVTYPES = {"vlan": "vlan", "bridge": "bridge", "bond": "bond", "wlan": "wireless", "netkit": "veth"}
_DEVTYPES |= dict.fromkeys(("macvlan", "macvtap", "ipvlan"), "virtual")
_DEVTYPES |= dict.fromkeys(
    ("vxlan", "geneve", "gre", "gretap", "ip6gre", "ip6gretap", "erspan", "wireguard", "ppp", "gtp"), "tunnel"
)


def interfaces(tree: Tree, order: Iterable[str] = ()) -> Iterator[Observation]:
    """All interfaces without their addresses, which `ncdiag.machine.sockets` adds; those of ``order`` first."""
    for name in ordered(tree, order) or ():
        yield from _interface(tree, name)


def ordered(tree: Tree, order: Iterable[str] = ()) -> list[str] | None:
    """Names of all interfaces in the kernel's order; None if the folder cannot be read.

    ``order`` is that of getifaddrs if it is known. Otherwise ifindex is used, which gives the same order up to 255 and
    in newer kernels; older ones list addresses by ifindex modulo 256 (net/ipv4/devinet.c, inet_dump_ifaddr).
    """
    names = tree.names(INTERFACES)
    if names is None:
        return None
    first = {name: place for place, name in enumerate(order)}
    numbered = []
    for name in names:
        if _is_interface(tree, name):
            index = tree.number(f"{INTERFACES}/{name}/ifindex")
            numbered.append((first.get(name, len(first)), 1 << 31 if index is None else index, name))
    return [name for *_, name in sorted(numbered)]


def _is_interface(tree: Tree, name: str) -> bool:
    return tree.exists(f"{INTERFACES}/{name}/type")  # bonding_masters is a file


def _interface(tree: Tree, name: str) -> Iterator[Observation]:
    base, key = f"{INTERFACES}/{name}", ("Interface", name)
    evidence, kind = kind_of_interface(tree, name)
    yield tree.fact(f"{base}/{evidence}".rstrip("/"), *key, text=name, line=0, kind=kind)
    yield from tree.told(f"{base}/ifindex", *key, ifindex=tree.number(f"{base}/ifindex"))
    flags, state = tree.number(f"{base}/flags", 0), tree.text(f"{base}/operstate")
    up = None if flags is None else bool(flags & _UP)
    running = None if up is None or state is None else up and state in _REACHES
    yield from tree.told(f"{base}/flags", *key, up=up)
    yield from tree.told(f"{base}/operstate", *key, operstate=state, running=running)
    yield from tree.told(f"{base}/mtu", *key, mtu=tree.number(f"{base}/mtu"))
    speed = tree.number(f"{base}/speed")  # -1 or EINVAL if the device has no speed or is down
    untold = True if speed == -1 and running else None
    yield from tree.told(f"{base}/speed", *key, speed_mbps=speed if speed and speed > 0 else None, speed_untold=untold)
    yield from tree.told(f"{base}/address", *key, mac=tree.text(f"{base}/address"))
    master = tree.target(f"{base}/master")
    yield from tree.told(f"{base}/master", *key, text=master, master=master)
    slaves = (tree.text(f"{base}/bonding/slaves") or "").split()
    yield from tree.told(f"{base}/bonding/slaves", *key, slaves=slaves or None)
    ports = tree.names(f"{base}/brif") or []
    yield from tree.told(f"{base}/brif", *key, text=" ".join(ports), slaves=ports or None)
    lower = [entry.removeprefix("lower_") for entry in tree.names(base) or () if entry.startswith("lower_")]
    if kind == "vlan" and len(lower) == 1:
        yield tree.fact(f"{base}/lower_{lower[0]}", *key, text=lower[0], line=0, parent=lower[0])
    if tree.exists(f"{base}/device"):
        yield from _device(tree, base, key)


def _device(tree: Tree, base: str, key: tuple[str, str]) -> Iterator[Observation]:
    """The PCI function of an interface; a virtual function (SR-IOV) has a link to its physical function."""
    where, driver = pci_address(tree, f"{base}/device"), tree.target(f"{base}/device/driver")
    virtual = tree.exists(f"{base}/device/physfn") if where else None
    text = tree.target(f"{base}/device") or ""
    yield from tree.told(f"{base}/device", *key, text=text, bus_id=where, driver=driver, virtual_function=virtual)


def kind_of_interface(tree: Tree, name: str) -> tuple[str, str]:
    """(source file, kind) of an interface. An interface without a device is virtual, whatever its name."""
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
    """(source file, kind) of a veth, whose iflink is its peer, perhaps in another namespace, not a lower interface."""
    own, other = tree.number(f"{base}/ifindex"), tree.number(f"{base}/iflink")
    stacked = any(name.startswith("lower_") for name in tree.names(base) or ())
    if None not in (own, other) and own != other and not stacked:
        return "iflink", "veth"
    return "", "virtual"


def routes(tree: Tree) -> Iterator[Observation]:
    """Routes of the main table that are up; the default routes as ``default`` and ``::/0``.

    Of several routes to a destination over one interface, the one with the lowest metric, as the kernel chooses. A
    route that rejects packets has the interface ``*``.
    """
    for path, read in (("proc/net/route", _route4), ("proc/net/ipv6_route", _route6)):
        lines = tree.lines(path)
        best: dict[tuple[str, str], tuple[int, int, str | None]] = {}
        for index, line in enumerate(lines or ()):
            route = read(line.split())
            if route:
                key, metric, gateway = route
                best[key] = min(best.get(key, (metric, index, gateway)), (metric, index, gateway), key=lambda r: r[:2])
        for key, (metric, index, gateway) in best.items():
            text = (lines or [])[index]
            refuses = True if key[1] == NO_DEVICE else None
            told = {"metric": metric, "gateway": gateway, "refuses": refuses}
            yield tree.fact(path, "Route", *key, text=text, line=index + 1, **told)
    if tree.exists("proc/net/route") and not {"proc/net/route", "proc/net/ipv6_route"} & set(tree.refused):
        yield tree.whole("proc/net", "routes")


_ROUTE_UP, _ROUTE_REJECT = 0x1, 0x200
_Route = tuple[tuple[str, str], int, str | None]  # (destination, interface), metric, gateway
NO_DEVICE = "*"  # the interface in fib_route_seq_show of a route without one: blackhole, unreachable, prohibit


def _route4(words: list[str]) -> _Route | None:
    """Parse /proc/net/route: Iface Destination Gateway Flags RefCnt Use Metric Mask; addresses in host byte order."""
    try:
        interface, flags, metric = words[0], int(words[3], 16), int(words[6])
        destination, gateway, mask = (_ipv4(words[column]) for column in (1, 2, 7))
        network = ipaddress.IPv4Network(f"{destination}/{mask}")
    except (ValueError, IndexError, OverflowError):
        return None
    if not flags & _ROUTE_UP:
        return None
    refuses = bool(flags & _ROUTE_REJECT) or interface == NO_DEVICE
    name = str(network) if network.prefixlen else "default"
    return (name, NO_DEVICE if refuses else interface), metric, str(gateway) if int(gateway) else None


def _ipv4(text: str) -> ipaddress.IPv4Address:
    return ipaddress.IPv4Address(int(text, 16).to_bytes(4, "little"))


def _route6(words: list[str]) -> _Route | None:
    """Parse /proc/net/ipv6_route: network, length, source, length, gateway, metric, refs, use, flags, name."""
    try:
        network = ipaddress.IPv6Network((int(words[0], 16), int(words[1], 16)))
        gateway, interface = ipaddress.IPv6Address(int(words[4], 16)), words[9]
        metric, flags = int(words[5], 16), int(words[8], 16)
    except (ValueError, IndexError):
        return None
    own = network.prefixlen == network.max_prefixlen or network.is_multicast or interface == "lo"
    if own or not flags & _ROUTE_UP or flags & _ROUTE_REJECT:
        return None
    return (str(network), interface), metric, str(gateway) if int(gateway) else None
