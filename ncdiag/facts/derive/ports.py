"""RDMA devices and their ports: RoCE or InfiniBand, which are active, how fast, which GID is routable."""

from __future__ import annotations

import re

from ncdiag.facts.model import Hca, Host, Port
from ncdiag.facts.view import View, derived

_NO_VENDOR = 0xFFFFFF
_SOFTWARE = re.compile(r"rxe|siw")


@derived
def is_active(port: Port, view: View) -> bool | None:
    """Is the port active? NCCL takes no other."""
    return None if port.state is None else port.state == "active"


@derived
def is_roce(port: Port, view: View) -> bool | None:
    """Does the port carry RDMA over Ethernet? From the link layer, else from the types in its GID table."""
    if port.link_layer is not None:
        return port.link_layer == "Ethernet"
    types = {gid.type for gid in port.gids} - {None}
    return any(kind != "IB" for kind in types) if types else None


@derived
def rocev2_ipv4_index(port: Port, view: View) -> int | None:
    """The lowest index of type RoCE v2 with an IPv4 address; None without one, or when a lower one may exist unseen."""
    known = {gid.index for gid in port.gids if gid.type is not None}
    for gid in sorted(port.gids, key=lambda g: g.index):
        if gid.type == "RoCE v2" and gid.ip is not None:
            return gid.index if port.gids_complete or known.issuperset(range(gid.index)) else None
    return None


@derived
def active_ports(host: Host, view: View) -> tuple[Port, ...]:
    """The ports known to be active, device by device."""
    return tuple(port for hca in host.hcas for port in hca.ports if view.get(port, "is_active"))


@derived
def is_soft_rdma(hca: Hca, view: View) -> bool | None:
    """Is the device Soft-RoCE or Soft-iWARP?

    The rxe and siw drivers have no PCI device, and names that begin so by custom.
    """
    vendor = vendor_of(hca)
    if _SOFTWARE.match(hca.name) or vendor in {0, _NO_VENDOR}:
        return True
    return None if vendor is None else False


def vendor_of(hca: Hca) -> int | None:
    """The number of the PCI vendor of an RDMA device; None when it was not shown."""
    try:
        return int(hca.vendor_id or "", 16)
    except ValueError:
        return None
