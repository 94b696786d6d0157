"""Kernel parameters with which each of several cards in one network answers ARP for its own addresses alone.

Source: Linux Documentation/networking/ip-sysctl.rst (arp_ignore 1, arp_announce 2; the larger of all and the card's).
"""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_interface

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.assemble_hosts import UNNAMED
from ncdiag.facts.model import Host
from ncdiag.facts.scalars import ip_address
from ncdiag.facts.view import View
from ncdiag.fixes.values import Bindings, Value, best, bound

_IGNORE = "net.ipv4.conf.all.arp_ignore"
_OF_CARD = "net.ipv4.conf.{name}.arp_ignore=1\\nnet.ipv4.conf.{name}.arp_announce=2\\n"
_FILE = "/etc/sysctl.d/90-rdma-arp.conf"
_NAME = lazy_regex(r"[A-Za-z0-9][\w-]{0,14}")
"""Dots would need another form of the key."""
_TWO = 2


@best
def own_arp(view: View, bindings: Bindings) -> Value:  # noqa: ARG001
    """The lines for the cards of the host whose kernel answers for other cards, and those for its peers."""
    host = bound(bindings, Host)
    if host is None or (host.sysctls or {}).get(_IGNORE) != "0":
        return Value(reason=f"{_IGNORE} was not shown", ask_for=("sysctl net.ipv4.conf.all.arp_ignore",))
    cards = sorted(set(_in_one_network(host)))
    if not cards or not all(_NAME.fullmatch(name) for name, _ in cards):
        return Value(reason="the cards in one network were not seen", ask_for=("ip -br addr",))
    keys = "".join(_OF_CARD.format(name=name) for name in dict.fromkeys(name for name, _ in cards))
    where = f"   # on {host.name}" if host.name != UNNAMED else ""
    text = f"printf '{keys}' | sudo tee {_FILE}; sudo sysctl -p {_FILE}{where}"
    flush = "; ".join(f"sudo ip neigh flush to {ip}" for _, ip in cards)
    return Value(text=f"{text}\n{flush}   # then, on its peers", reason=f"{_IGNORE} is 0")


def _in_one_network(host: Host) -> Iterator[tuple[str, str]]:
    """Card and IPv4 address of those that share a network with another card."""
    held: dict[str, list[tuple[str, str]]] = {}
    for card in host.interfaces:
        for address in card.addresses or () if card.up is not False else ():
            ip = ip_address(address.ip)
            if ip is not None and ip.version == 4 and not ip.is_loopback and address.prefix_len is not None:  # noqa: PLR2004
                network = str(ip_interface(f"{ip}/{address.prefix_len}").network)
                held.setdefault(network, []).append((card.name, str(ip)))
    for cards in held.values():
        if len({name for name, _ in cards}) >= _TWO:
            yield from cards
