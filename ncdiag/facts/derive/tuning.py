"""How a host is tuned for steady speed: governors, clocks, PCIe reads, counters of its cards."""

from __future__ import annotations

RDMA_CARDS = ("ConnectX", "BlueField", "Infiniband controller")
