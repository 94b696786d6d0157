"""Cards that support InfiniBand and Ethernet: is a port set to the type that its siblings do not have?"""

from __future__ import annotations

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Host, Port
from ncdiag.facts.view import View

_LAYERS = {"ETH": "Ethernet", "IB": "InfiniBand"}
_SIBLINGS = 2
"""Active ports of the other type, and none of the own, that show what the switches are."""


@derived
def port_of_wrong_type(host: Host, view: View) -> str:
    """``mlx5_2 1``: a port that is down, of a type in its firmware that no active port of the host has; empty: none."""
    for port in (port for hca in host.hcas for port in hca.ports):
        if _is_wrong(port, host):
            view.note(host, "port_types")
            return f"{port.hca} {port.number}"
    return ""


def _is_wrong(port: Port, host: Host) -> bool:
    layer = _LAYERS.get(_type(host, port) or "")
    if layer is None or port.state != "down" or port.link_layer not in {None, layer}:
        return False
    active = [
        each.link_layer for hca in host.hcas for each in hca.ports if each.state == "active" and each.hca != port.hca
    ]  # fmt: skip
    return len(active) >= _SIBLINGS and None not in active and layer not in active


def _type(host: Host, port: Port) -> str | None:
    """The type in the firmware, by any name of the device."""
    names = {port.hca, *(name for name, rdma in (host.mst_devices or {}).items() if rdma == port.hca)}
    names |= {f"0000:{name}" for name in names if not name.startswith("/")}
    hca = next((each for each in host.hcas if each.name == port.hca), None)
    names |= {hca.bus_id} if hca is not None and hca.bus_id else set[str]()
    wanted = {f"{name} {port.number}" for name in names}
    found = {kind for name, kind in (host.port_types or {}).items() if name in wanted}
    return found.pop() if len(found) == 1 else None
