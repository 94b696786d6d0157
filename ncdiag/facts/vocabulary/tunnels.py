"""Tunnels between hosts, and the MTU that the interface below leaves to one.

Sources: WireGuard (20 or 40 bytes of IP, 8 of UDP, 32 of its own), RFC 7348 (VXLAN: 50 over IPv4), RFC 2784 (GRE).
"""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.model import Host, Interface
from ncdiag.facts.scalars import in_network, ip_address
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.interfaces import is_loopback, is_virtual

_OVERHEADS = (
    (lazy_regex(r"(?:wg|wireguard)[\w.-]*$"), 60), (lazy_regex(r"(?:flannel\.|vxlan|vx|cilium_vxlan)[\w.-]*$"), 50),
    (lazy_regex(r"gre[\w.-]*$"), 24), (lazy_regex(r"(?:tunl|ipip)[\w.-]*$"), 20),
)  # fmt: skip
_OVER_IPV6 = 20
"""Bytes by which the header of IPv6 is longer."""
_IPV4 = 4


def is_inside(ip: str, interface: Interface) -> bool:
    """Is the address in a network of the interface?"""
    return any(in_network(ip, network) for network in _networks(interface))


def _networks(interface: Interface) -> list[str]:
    return [f"{each.ip}/{each.prefix_len}" for each in interface.addresses or () if each.prefix_len is not None]


def tunnel_to(ip: str, host: Host) -> Interface | None:
    """The interface of the host in whose network the address is, if its name is that of a tunnel."""
    return next((each for each in host.interfaces if overhead(each) is not None and is_inside(ip, each)), None)


def room_below(tunnel: Interface, host: Host, view: View) -> int | None:
    """The MTU that is left to the tunnel by the interface below: the only one that leads out, or that of the route."""
    headers = overhead(tunnel)
    out = [each for each in host.interfaces if _leads_out(each, view)]
    routed = [each for each in out if any(r.destination == "default" and r.interface == each.name for r in host.routes)]
    below = out if len(out) == 1 else routed
    if headers is None or len(below) != 1 or below[0].mtu is None:
        return None
    held = [ip for each in below[0].addresses or () if (ip := ip_address(each.ip)) is not None and not ip.is_link_local]
    is_ipv6 = bool(held) and all(ip.version != _IPV4 for ip in held)
    return below[0].mtu - headers - (_OVER_IPV6 if is_ipv6 else 0)


def _leads_out(interface: Interface, view: View) -> bool:
    return not is_loopback(interface, view) and is_virtual(interface, view) is False and interface.up is not False


def overhead(interface: Interface) -> int | None:
    """Bytes of the headers that a tunnel of this name adds; None for other interfaces."""
    return next((size for pattern, size in _OVERHEADS if pattern.match(interface.name)), None)
