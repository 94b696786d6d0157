"""External interfaces, and the interface by which the kernel would send to an address."""

import array
import contextlib
import fcntl
import ipaddress
import os
import socket
import struct
from typing import Any, Dict, List, Optional, Tuple

from ncdiag.agent.addresses import addresses

_GET_FLAGS, _GET_MTU, _GET_MAC = 0x8913, 0x8921, 0x8927  # SIOCGIFFLAGS, SIOCGIFMTU, SIOCGIFHWADDR, <linux/sockios.h>
_ETHERNET = 1  # ARPHRD_ETHER of <linux/if_arp.h>
_RESOLVED = 0x2  # ATF_COM: the entry of the ARP table is complete
_UP, _LOOPBACK, _RUNNING = 0x1, 0x8, 0x40  # IFF_* of <linux/if.h>
_MOST_INTERFACES = 32
_EPHEMERAL = (32768, 60999)  # Linux's default (Documentation/networking/ip-sysctl.rst)
_GET_ROUTE, _REQUEST, _ERROR = 26, 1, 2  # RTM_GETROUTE, NLM_F_REQUEST and NLMSG_ERROR of <linux/rtnetlink.h>
_TO, _FROM, _BY, _GATEWAY = 1, 2, 4, 5  # RTA_DST, RTA_SRC, RTA_OIF, RTA_GATEWAY
_HEAD = struct.Struct("=IHHII")  # struct nlmsghdr
_ROUTE = struct.Struct("=BBBBBBBBI")  # struct rtmsg
_ATTRIBUTE = struct.Struct("=HH")  # struct rtattr


def interfaces() -> Tuple[List[Dict[str, Any]], int]:
    """The interfaces that are up and not loopback, each with one address: its first IPv4 one, else a global IPv6 one.

    ``name``, ``address``, ``prefix``, ``mtu``, ``index`` and ``mac``; and the number of interfaces that are left out.
    """
    found = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        for name, told in (addresses() or {}).items():
            flags = _number(asked, _GET_FLAGS, name, "H")
            if flags is None or flags & _LOOPBACK or flags & (_UP | _RUNNING) != _UP | _RUNNING:
                continue
            usable = [one for one in told if _is_usable(one["ip"])]
            if usable:
                found.append({
                    "name": name, "address": usable[0]["ip"], "prefix": usable[0].get("prefix_len", 0),
                    "mtu": _number(asked, _GET_MTU, name, "i"), "index": _index(name),
                    "mac": _mac(asked, name),
                })  # fmt: skip
    found.sort(key=lambda one: one["index"] or 0)
    return found[:_MOST_INTERFACES], len(found[_MOST_INTERFACES:])


def port_range() -> Tuple[int, int]:
    """The range from which the kernel assigns ports to programs that request none, such as NCCL."""
    with contextlib.suppress(OSError, ValueError), open("/proc/sys/net/ipv4/ip_local_port_range") as file:
        first, last = map(int, file.read().split())
        return first, last
    return _EPHEMERAL


def network_of(one: Dict[str, Any]) -> str:
    """The network of an interface: ``10.0.0.0/16``."""
    return str(ipaddress.ip_network("{}/{}".format(one["address"], one["prefix"]), strict=False))


def share_network(one: Dict[str, Any], other: Dict[str, Any]) -> bool:
    """True if each address is in the network of the other."""
    nets = [ipaddress.ip_network("{}/{}".format(i["address"], i["prefix"]), strict=False) for i in (one, other)]
    return all(ipaddress.ip_address(i["address"]) in net for i, net in zip((other, one), nets))


def way(target: str, source: Optional[str] = None) -> Optional[Tuple[int, str]]:
    """(index of the interface by which the kernel would send to ``target``, gateway); None if it would not.

    ``source`` is the address to send from. Asks the kernel as ``ip route get`` does; nothing is sent.
    """
    family = socket.AF_INET6 if ":" in target else socket.AF_INET
    packed = [(_TO, socket.inet_pton(family, target))]
    if source:
        packed.append((_FROM, socket.inet_pton(family, source)))
    bits = len(packed[0][1]) * 8
    body = _ROUTE.pack(family, bits, bits if source else 0, 0, 0, 0, 0, 0, 0)
    for kind, data in packed:
        body += _ATTRIBUTE.pack(_ATTRIBUTE.size + len(data), kind) + data
    message = _HEAD.pack(_HEAD.size + len(body), _GET_ROUTE, _REQUEST, 1, 0) + body
    try:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as kernel:
            kernel.settimeout(1)
            kernel.send(message)
            answer = kernel.recv(1 << 16)
    except (OSError, AttributeError):
        return None
    return _read(answer, family)


def _read(answer: bytes, family: int) -> Optional[Tuple[int, str]]:
    """The interface and gateway of a netlink answer."""
    length, kind = _HEAD.unpack_from(answer)[:2]
    if kind == _ERROR:
        return None
    index, gateway, place = 0, "", _HEAD.size + _ROUTE.size
    while place + _ATTRIBUTE.size <= length:
        size, what = _ATTRIBUTE.unpack_from(answer, place)
        if size < _ATTRIBUTE.size:
            break
        data = answer[place + _ATTRIBUTE.size : place + size]
        if what == _BY:
            index = struct.unpack("=I", data)[0]
        elif what == _GATEWAY:
            gateway = socket.inet_ntop(family, data)
        place += (size + 3) & ~3
    return (index, gateway) if index else None


def _is_usable(text: str) -> bool:
    address = ipaddress.ip_address(text.partition("%")[0])
    return address.version == 4 or not (address.is_link_local or address.is_loopback)  # noqa: PLR2004


def _number(asked: socket.socket, question: int, name: str, kind: str) -> Optional[int]:
    """The kernel's answer on an interface (netdevice(7)): the number after its name."""
    request = array.array("B", struct.pack("16s24x", os.fsencode(name)[:15]))
    try:
        fcntl.ioctl(asked.fileno(), question, request)
    except OSError:
        return None
    return int(struct.unpack_from(kind, request, 16)[0])


def _mac(asked: socket.socket, name: str) -> Optional[str]:
    """The MAC address of an Ethernet interface: ``02:42:ac:11:00:02``."""
    request = array.array("B", struct.pack("16s24x", os.fsencode(name)[:15]))
    try:
        fcntl.ioctl(asked.fileno(), _GET_MAC, request)
    except OSError:
        return None
    family, mac = struct.unpack_from("H6s", request, 16)
    return ":".join("{:02x}".format(byte) for byte in mac) if family == _ETHERNET else None


def neighbour(address: str) -> Optional[str]:
    """The MAC address that answered ARP for an IPv4 address; None if none did (/proc/net/arp, proc(5))."""
    with contextlib.suppress(OSError, ValueError), open("/proc/net/arp") as file:
        for line in file:
            words = line.split()
            if len(words) > 3 and words[0] == address and int(words[2], 16) & _RESOLVED:  # noqa: PLR2004
                return words[3]
    return None


def _index(name: str) -> Optional[int]:
    try:
        return socket.if_nametoindex(name)
    except OSError:
        return None
