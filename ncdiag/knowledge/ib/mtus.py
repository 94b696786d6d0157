"""Rails of one host whose interfaces have another MTU than the rest."""

from __future__ import annotations

from collections import Counter

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Host, Interface
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.rdma import is_roce

_RAILS = 3
"""Interfaces of which one can differ from the rest."""


@derived
def odd_rail_mtus(host: Host, view: View) -> str | None:
    """``ens5f0np0 1500 (7 others 9000)``: interfaces of RoCE ports that have another MTU than most; empty for none.

    Compared are active ports of one rate. None where fewer than two such interfaces told their MTU.
    """
    rails = _rails(host, view)
    if len(rails) < _RAILS - 1:
        return None
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


def _rails(host: Host, view: View) -> list[tuple[float | None, Interface]]:
    by_name = {interface.name: interface for interface in host.interfaces}
    found = {}
    for hca in host.hcas:
        for port in hca.ports:
            interface = by_name.get(port.netdev or "")
            if interface is not None and interface.mtu and port.state == "active" and is_roce(port, view):
                found[interface.name] = (port.rate_gbps, interface)
    return list(found.values())
