"""Keep the readings of counters of traffic: two readings show which ports a running job uses.

Source of the names: Linux Documentation/ABI/stable/sysfs-class-infiniband (port_xmit_data), libibmad/fields.c
(PortXmitData), drivers/infiniband/hw/mlx5/counters.c (rx_write_requests) and
drivers/net/ethernet/mellanox/mlx5/core/en_stats.c (tx_vport_rdma_unicast_bytes, tx_bytes_phy).
"""

from __future__ import annotations

from collections.abc import Mapping

from ncdiag.parsers._rows import Reading

_COUNTERS = frozenset(
    f"{way}{rest}"
    for rest, ways in {
        "_data": ("port_xmit", "port_rcv"), "Data": ("PortXmit", "PortRcv"), "_write_requests": ("rx",),
        "_vport_rdma_unicast_bytes": ("tx", "rx"), "_bytes_phy": ("tx", "rx"),
    }.items()
    for way in ways
)  # fmt: skip
"""Counters that grow with what the port carries, and with nothing else."""


def keep_traffic(reading: Reading, device: str, counters: Mapping[str, int], at: int | None = None) -> None:
    """Observe each of the counters that counts traffic; ``at`` is the line, the present one if not given."""
    for name, value in counters.items():
        if name in _COUNTERS:
            reading.observe("Traffic", at=at, device=device, counter=name, value=value)
