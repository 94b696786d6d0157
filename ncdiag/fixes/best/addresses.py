"""Addresses of the hosts: their common family, and those that differ from host to host."""

from __future__ import annotations

from ncdiag.facts.model import Address
from ncdiag.facts.scalars import ip_address
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.interfaces import is_virtual
from ncdiag.fixes.best.sockets import chosen_interfaces
from ncdiag.fixes.values import Bindings, Value, best
from ncdiag.nccl.on_host import seen

_FAMILIES = {4: "AF_INET", 6: "AF_INET6"}
_EACH = "ip -br addr (on every host)"


@best
def shared_family(view: View, bindings: Bindings) -> Value:  # noqa: ARG001
    """For NCCL_SOCKET_FAMILY: the address family that every host has on an interface to other hosts, IPv4 first."""
    held = {name: _families(name, view) for name in seen.hosts(view)}
    blind = tuple(f"ip -br addr (on {name})" for name, found in held.items() if not found)
    common = set.intersection(*held.values()) if held and not blind else set[int]()
    for version, family in _FAMILIES.items():
        if version in common:
            reason = f"every host seen ({len(held)}) has an IPv{version} address that others can reach"
            return Value(text=family, reason=reason)
    reason = "no address family was seen on every host"
    return Value(reason=reason, ask_for=blind or (_EACH,))


def _families(name: str, view: View) -> set[int]:
    """The families of the addresses that other hosts can reach."""
    addresses: list[Address] = [
        address for interface in seen.interfaces(name, view).interfaces
        if interface.up is not False and not is_virtual(interface, view) for address in interface.addresses or ()
    ]  # fmt: skip
    found = [ip for address in addresses if (ip := ip_address(address.ip)) is not None]
    return {ip.version for ip in found if not (ip.is_loopback or ip.is_link_local)}


@best
def own_address(view: View, bindings: Bindings) -> Value:  # noqa: ARG001
    """Each host's address in the network that the hosts share; a value only if one host is all of the job."""
    chosen = chosen_interfaces(view)
    if not chosen:
        return Value(reason="each host needs its own address in the network that the hosts share", ask_for=(_EACH,))
    if len(chosen) == 1 and not seen.unseen(view):
        name, (interface, address) = next(iter(chosen.items()))
        return Value(text=address, reason=f"the address of {interface} on {name}")
    each = ", ".join(f"{name}: {address}" for name, (_, address) in sorted(chosen.items())[:8])
    return Value(reason=f"each host needs its own address ({each})", ask_for=(_EACH,) if seen.unseen(view) else ())
