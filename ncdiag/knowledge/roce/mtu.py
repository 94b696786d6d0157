"""The MTUs of the RoCE ports of a host."""

from __future__ import annotations

from collections import Counter

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Host, Interface
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.rdma import is_roce

_RAILS = 3
"""The number of interfaces from which one that differs is an outlier."""


@derived
def odd_rail_mtus(host: Host, view: View) -> str | None:
    """Interfaces of RoCE ports with another MTU than most, ``ens5f0np0 1500 (7 others 9000)``; empty for none.

    Active ports of one rate are compared. Where fewer than two such interfaces have a known MTU, the MTUs in force of
    the ports are, ``mlx5_2 1024 (3 others 4096)``; None where those are not known either.
    """
    rails = _rails(host, view)
    if len(rails) < _RAILS - 1:
        return _odd_port_mtus(host, view)
    groups: dict[float | None, list[Interface]] = {}
    for rate, interface in rails:
        groups.setdefault(rate, []).append(interface)
    for members in groups.values():
        (usual, count), *others = Counter(interface.mtu for interface in members).most_common()
        if others and len(members) >= _RAILS:
            odd = [interface for interface in members if interface.mtu != usual]
            for interface in odd:
                view.note(interface, "mtu")
            return f"{', '.join(f'{i.name} {i.mtu}' for i in odd)} ({count} others {usual})"
    return ""


def _odd_port_mtus(host: Host, view: View) -> str | None:
    ports = [p for hca in host.hcas for p in hca.ports if p.active_mtu and p.state == "active" and is_roce(p, view)]
    if len(ports) < _RAILS - 1:
        return None
    (usual, count), *others = Counter(port.active_mtu for port in ports).most_common()
    if not others or len(ports) < _RAILS or len({port.rate_gbps for port in ports}) > 1:
        return ""
    odd = [port for port in ports if port.active_mtu != usual]
    for port in odd:
        view.note(port, "active_mtu")
    return f"{', '.join(f'{p.hca} {p.active_mtu}' for p in odd)} ({count} others {usual})"


def _rails(host: Host, view: View) -> list[tuple[float | None, Interface]]:
    by_name = {interface.name: interface for interface in host.interfaces}
    found = {}
    for hca in host.hcas:
        for port in hca.ports:
            interface = by_name.get(port.netdev or "")
            if interface is not None and interface.mtu and port.state == "active" and is_roce(port, view):
                found[interface.name] = (port.rate_gbps, interface)
    return list(found.values())
