"""The RDMA devices in networks that all hosts share."""

from __future__ import annotations

from collections.abc import Iterator

from ncdiag.facts.model import Address, Host
from ncdiag.facts.scalars import ip_address
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.rdma import active_ports
from ncdiag.fixes.values import Bindings, Value, best
from ncdiag.nccl.on_host import seen

_ASK = "show_gids; ip -br addr (on every host)"


@best
def connected_devices(view: View, bindings: Bindings) -> Value:  # noqa: ARG001
    """A value for NCCL_IB_HCA: the devices whose networks every host has, by exact name; one list for all hosts."""
    names = seen.hosts(view)
    held = {host.name: dict(_networks(host, view)) for host in view.job.hosts if host.name in names}
    if len(held) < 2 or not all(held.values()):  # noqa: PLR2004
        return Value(reason="the addresses of the cards of two hosts were not seen", ask_for=(_ASK,))
    lists = {
        name: [device for device, address in devices.items() if _is_shared(address, name, held)]
        for name, devices in held.items()
    }
    if not all(lists.values()):
        return Value(reason="no network was seen in which every host has a card", ask_for=(_ASK,))
    texts = {name: "=" + ",".join(devices) for name, devices in lists.items()}
    if len(set(texts.values())) > 1:
        each = ", ".join(f"{name}: {text}" for name, text in sorted(texts.items())[:8])
        return Value(reason=f"the devices have different names on other hosts; set it on each host: {each}")
    left = sorted({device for devices in held.values() for device in devices} - {*next(iter(lists.values()))})
    reason = f"every host has them in one network ({', '.join(left) or 'none'} left out)"
    return Value(text=next(iter(texts.values())), reason=reason)


def _networks(host: Host, view: View) -> Iterator[tuple[str, Address]]:
    """The active devices of a host, each with the first address with a prefix of its interface."""
    active = {port.hca for port in active_ports(host, view) or ()}
    for interface in host.interfaces:
        for address in interface.addresses or ():
            ip = ip_address(address.ip)
            if interface.hca in active and address.prefix_len is not None and ip is not None and not ip.is_link_local:
                yield str(interface.hca), address
                break


def _is_shared(address: Address, host: str, held: dict[str, dict[str, Address]]) -> bool:
    """True if every other host has a device in the network of this address."""
    others = (devices.values() for name, devices in held.items() if name != host)
    return all(any(seen.same_network(address, other) for other in found) for found in others)
