"""The RDMA ports of a host that NCCL uses, and the bandwidth that its ranks can send through them."""

from __future__ import annotations

import msgspec

from ncdiag.base.products import product_of
from ncdiag.facts.model import Benchmark, Gpu, Hca, Host, Port
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.benchmarks import carried_gbs, fastest, hosts_of, lanes_gbs
from ncdiag.facts.vocabulary.gpus import listed
from ncdiag.facts.vocabulary.rdma import is_roce, ranks_of
from ncdiag.nccl.vocabulary.filters import hca_list

_SPEEDS = {3: 8.0, 4: 16.0, 5: 32.0}
"""The GT/s of a PCIe lane, by generation."""
_LANES = 16
"""The number of PCIe lanes of a GPU."""


class Way(msgspec.Struct, frozen=True):
    """The ports of a host that NCCL uses, how many of them its ranks reach, and the GB/s that these carry together."""

    host: Host
    ports: tuple[tuple[Hca, Port], ...]
    reached: float
    gbs: float


def used_ports(host: Host, view: View) -> tuple[tuple[Hca, Port], ...]:
    """The active ports with the highest rate that NCCL_IB_HCA allows and, where a log lists them, that NCCL uses."""
    wanted = hca_list(host, view)
    named = {
        name for rank in ranks_of(host, view) for device in rank.net_devices or () for name in device.name.split("+")
    }
    every = [(hca, port) for hca in host.hcas for port in hca.ports]
    held = [(h, p) for h, p in every if wanted is None or wanted.admits(h.name, p.number)]
    return tuple(fastest([(h, p) for h, p in held if h.name in named] or held))


def way_out(benchmark: Benchmark, view: View) -> Way | None:
    """The ports of the host with the lowest bandwidth; None for one host, or when no rate is known."""
    hosts = hosts_of(benchmark, view)
    if hosts is None or hosts < 2:  # noqa: PLR2004
        return None
    ways = [way for host in view.job.hosts if (way := _way_out_of(host, benchmark, hosts, view)) is not None]
    return min(ways, key=lambda way: way.gbs, default=None)


def _way_out_of(host: Host, benchmark: Benchmark, hosts: int, view: View) -> Way | None:
    """The ports of one host; each GPU has equally many near it, and sends no more than its own PCIe link carries."""
    ports = used_ports(host, view)
    if not ports:
        return None
    carried = [carried_gbs(host, hca, port) for hca, port in ports]
    local = max(1, benchmark.nranks // hosts) if benchmark.nranks else None
    reached, gpu = float(len(ports)), next((gpu for gpu in host.gpus if gpu.model), None)
    if local is None:
        return Way(host, ports, reached, sum(carried))
    gpus = max(local, _gpus_of(host, gpu))
    if reached > gpus:
        reached -= reached % gpus
    reached = max(1.0, reached * local / gpus)
    total = sum(carried) * reached / len(ports)
    product = product_of(gpu.model) if gpu is not None else None
    speed = _SPEEDS.get(product.pcie or 0) if product is not None else None
    return Way(host, ports, reached, min(total, local * lanes_gbs(speed, _LANES)) if speed else total)


def _gpus_of(host: Host, gpu: Gpu | None) -> int:
    whole = listed(host)
    product = product_of(gpu.model) if gpu is not None else None
    return len(whole) if whole else (product.board or 0) if product is not None else 0


def layer_of(way: Way, view: View) -> str | None:
    """The link layer of the ports, ``IB`` or ``RoCE``; None where they differ or it is unknown."""
    told = {is_roce(port, view) for _, port in way.ports}
    return {True: "RoCE", False: "IB"}.get(told.pop() or False) if len(told) == 1 and None not in told else None
