"""The MTU that all hosts should have, where the input shows that the network carries it."""

from __future__ import annotations

from collections.abc import Iterator

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.assemble_hosts import UNNAMED
from ncdiag.facts.model import Difference, Event, Interface
from ncdiag.facts.scalars import in_network
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.interfaces import likely_kind
from ncdiag.facts.vocabulary.tunnels import is_inside, room_below, tunnel_to
from ncdiag.fixes.values import Bindings, Value, best, bound

_SAFE = lazy_regex(r"[A-Za-z0-9][\w.@-]{0,60}")
_OVERSIZE = lazy_regex(r"rx_(?:oversize|jabber|over_?size|long)")
"""Counters of packets that the network delivered and the card dropped because of their size."""
_HEADERS, _SMALLEST = 28, 576
_NEAR = 256
"""Bytes between a packet that passes and one that does not, within which the computed size is believed."""
_DEPTH = 4
_MODE = "ip -d link"
_ASK = ("ping -M do -s <mtu - 28> <peer>",)


@best
def one_mtu(view: View, bindings: Bindings) -> Value:
    """A line for each host with a smaller MTU, if most hosts have the larger one or the network shows to carry it."""
    found = bound(bindings, Difference)
    members = list(_members(found, view)) if found is not None else []
    sizes = sorted({each.mtu for each in members if each.mtu})
    if len(sizes) < len("ab"):
        return Value(reason="the MTU of the hosts was not seen")
    large = [each for each in members if each.mtu == sizes[-1]]
    small = [each for each in members if each.mtu != sizes[-1]]
    if len(large) <= len(small) and not _is_carried(sizes[-1], small, view):
        return Value(reason="whether the network carries the larger MTU was not seen", ask_for=_ASK)
    if any(each.host == UNNAMED or not _SAFE.fullmatch(each.name) for each in small):
        return Value(reason="the interfaces with the smaller MTU have no host")
    if any(likely_kind(each, view) == "ipoib" for each in members):
        return Value(reason="the largest MTU of IP over InfiniBand depends on its mode", ask_for=(_MODE,))
    raised = [each for one in small for each in _raised(one, sizes[-1], view)]
    if any(each.mtu is None or not _SAFE.fullmatch(each.name) for each in raised):
        return Value(reason="the MTU of the interface below was not seen", ask_for=("ip link show",))
    lines = [
        f"sudo ip link set dev {each.name} mtu {sizes[-1]}   # on {each.host}; and in its configuration"
        for each in raised
    ]
    return Value(
        text="\n".join(dict.fromkeys(lines)),
        reason=f"{', '.join(sorted({each.host for each in large}))} have {sizes[-1]}",
    )


def _raised(interface: Interface, size: int, view: View) -> list[Interface]:
    """The interface after those below it that have less: the kernel refuses a VLAN a larger MTU than its parent has.

    One below that was not seen has no MTU.
    """
    below = [interface]
    while likely_kind(below[0], view) == "vlan" and len(below) < _DEPTH:
        name = below[0].parent or below[0].name.rpartition(".")[0]
        host = view.host(interface.host)
        unseen = Interface(host=interface.host, name=name or "?")
        parent = next((each for each in (host.interfaces if host is not None else ()) if each.name == name), unseen)
        below.insert(0, parent)
    return [each for each in below if each is interface or each.mtu is None or each.mtu < size]


def _members(difference: Difference, view: View) -> Iterator[Interface]:
    """The interfaces of the network, or those of the name, that the difference is about."""
    inside = {
        each.name for host in view.job.hosts for each in host.interfaces
        if any(in_network(address.ip, difference.name) for address in each.addresses or ())
    } | {difference.name}  # fmt: skip
    for host in view.job.hosts:
        held = [each for each in host.interfaces if each.name in inside and each.mtu is not None]
        yield from held[:1]


def _is_carried(size: int, small: list[Interface], view: View) -> bool:
    """Did a packet of that size arrive, or did a card with the smaller MTU drop packets that the network delivered?"""
    counters = (each.counters or {} for each in small)
    if any(count and _OVERSIZE.match(name) for held in counters for name, count in held.items()):
        return True
    tries = (each.fields for each in view.job.events if each.event == "ping-tried")
    return any(each.get("received") and int(each.get("size") or 0) + _HEADERS == size for each in tries)


def _at_most(size: int, tunnel: Interface, view: View) -> int:
    """The size, or the largest that passed the tunnel if one passed that is much smaller than one that did not."""
    tries = [each.fields for each in view.job.events if each.event == "ping-tried"]
    inside = [each for each in tries if is_inside(str(each.get("address") or ""), tunnel)]
    passed = [int(each.get("size") or 0) + _HEADERS for each in inside if each.get("received")]
    lost = [int(each.get("size") or 0) + _HEADERS for each in inside if each.get("received") == 0]
    largest, smallest = max(passed, default=0), min(lost, default=size)
    return size if largest < _SMALLEST or (size < smallest and smallest - largest <= _NEAR) else min(size, largest)


@best
def tunnel_mtu(view: View, bindings: Bindings) -> Value:
    """The MTU of a tunnel that fits into packets of the interface below, for each host that has the tunnel."""
    event = bound(bindings, Event)
    address = str(event.fields.get("address") or "") if event is not None else ""
    host = view.host(event.host) if event is not None else None
    tunnel = tunnel_to(address, host) if host is not None else None
    size = room_below(tunnel, host, view) if host is not None and tunnel is not None else None
    if tunnel is None or size is None or size < _SMALLEST or not _SAFE.fullmatch(tunnel.name):
        return Value(reason="no tunnel with the MTU of the interface below it was seen", ask_for=("ip -d link",))
    if tunnel.mtu is not None and tunnel.mtu <= size:
        return Value(reason=f"{tunnel.name} fits into the interface below")
    size = _at_most(size, tunnel, view)
    places = sorted(
        each.name for each in view.job.hosts
        if each.name != UNNAMED and any(other.name == tunnel.name for other in each.interfaces)
    )  # fmt: skip
    where = f"on {', '.join(places)}; " if places else ""
    file = f"MTU = {size} in /etc/wireguard/{tunnel.name}.conf" if tunnel.name.startswith("wg") else "its configuration"
    text = f"sudo ip link set dev {tunnel.name} mtu {size}   # {where}and {file}"
    return Value(text=text, reason="the MTU of the interface below, less the headers of the tunnel")
