"""Cards that support InfiniBand and Ethernet: is a port set to the type that its siblings do not have?

Each PCI function of a card of mlx5 is a device with one port; mlxconfig shows the ports of the whole card, by any of
its functions: LINK_TYPE_P2 is that of function 1 (MFT mlxconfig; Linux drivers/net/ethernet/mellanox/mlx5).
"""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.model import Host, Port

_LAYERS = {"ETH": "Ethernet", "IB": "InfiniBand"}
_SIBLINGS = 2
"""Active ports of the other type, and none of the own, that show what the switches are."""


_FUNCTION = lazy_regex(r"(?:[0-9a-f]{2}:[0-9a-f]{2}\.|pciconf\d{1,3}\.|pciconf\d{1,3}$)(?P<function>[0-7])?$")
_FIRST = "1"


def wrong_port(host: Host) -> Port | None:
    """A port that is down, of a type in its firmware that no active port of the host has."""
    return next((port for hca in host.hcas for port in hca.ports if _is_wrong(port, host)), None)


def _is_wrong(port: Port, host: Host) -> bool:
    layer = _LAYERS.get(_type(host, port) or "")
    if layer is None or port.state != "down" or port.link_layer not in {None, layer}:
        return False
    active = [
        each.link_layer for hca in host.hcas for each in hca.ports if each.state == "active" and each.hca != port.hca
    ]  # fmt: skip
    return len(active) >= _SIBLINGS and None not in active and layer not in active


def _type(host: Host, port: Port) -> str | None:
    """The type in the firmware: that of the port's number there, or the one that all ports of the card have."""
    types, number = _types(host, port), number_in_firmware(host, port)
    found = {types[number]} if number else set(types.values())
    return found.pop() if len(found) == 1 else None


def number_in_firmware(host: Host, port: Port) -> str:
    """The number in the name of the port's LINK_TYPE; empty if its place on the card is not known."""
    shown = set(_types(host, port))
    if any(hca.name == port.hca and len(hca.ports) > 1 for hca in host.hcas):
        wanted = str(port.number)
    else:
        functions = {number for name in names_of(host, port) if (number := _function(name)) is not None}
        if not functions:
            return _FIRST if shown == {_FIRST} else ""
        wanted = str(functions.pop() + 1) if len(functions) == 1 else ""
    return wanted if wanted in shown else ""


def _function(name: str) -> int | None:
    """The PCI function that an address or a name of mst ends with; mst leaves out 0."""
    found = _FUNCTION.search(name)
    return int(found["function"] or 0) if found is not None else None


def _types(host: Host, port: Port) -> dict[str, str]:
    """The types of the card's ports, by number."""
    wanted = names_of(host, port)
    split = [(name.rpartition(" "), kind) for name, kind in (host.port_types or {}).items()]
    return {number: kind for (device, _, number), kind in split if device in wanted}


def names_of(host: Host, port: Port) -> set[str]:
    """All names of the port's device."""
    names = {port.hca, *(name for name, rdma in (host.mst_devices or {}).items() if rdma == port.hca)}
    names |= {f"0000:{name}" for name in names if not name.startswith("/")}
    hca = next((each for each in host.hcas if each.name == port.hca), None)
    return names | ({hca.bus_id} if hca is not None and hca.bus_id else set[str]())
