"""InfiniBand partitions: the key with which a host sends, and whether the hosts of a job share a partition.

Two ports can communicate when the lower 15 bits of their keys are equal and at least one is a full member (bit 15):
InfiniBand Architecture Specification, 10.9.3. NCCL uses one index for all ports (NCCL_IB_PKEY, default 0;
src/transport/net_ib/connect.cc). Ethernet ports have no partitions.
"""

from __future__ import annotations

from collections.abc import Iterator

from ncdiag.facts.model import Host, Port
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.rdma import is_active

FULL = 0x8000
_DEFAULT = 0xFFFF
"""The key of a full member of the default partition."""


def infiniband_ports(host: Host, view: View) -> Iterator[Port]:
    """The InfiniBand ports of the host that are active, or whose state is unknown."""
    for hca in host.hcas:
        for port in hca.ports:
            if _is_infiniband(port) and is_active(port, view) is not False:
                yield port


def _is_infiniband(port: Port) -> bool:
    """Is the link layer InfiniBand, or are there other keys than the default, which Ethernet ports do not have?"""
    if port.link_layer is not None:
        return port.link_layer == "InfiniBand"
    return any(int(key, 16) not in {0, _DEFAULT} for key in port.pkeys or ())


def key_at(port: Port, index: int) -> int:
    """The key at an index of the port's table; 0 for an empty entry."""
    table = port.pkeys or ()
    return int(table[index], 16) if 0 <= index < len(table) else 0
