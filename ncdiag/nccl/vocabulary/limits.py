"""The bandwidth that the links allow a benchmark, and the share of it that it must reach.

Bus bandwidth is defined so that the links of a ring carry it (nccl-tests doc/PERFORMANCE.md): for a collective over
several hosts it cannot exceed what the network ports of one host carry together. For an all-to-all only the part for
ranks on other hosts crosses them. On two hosts the trees of NCCL send half as much and reach what the NVLinks of a host
carry, where the ports allow it (NVIDIA/nccl-tests issues 196 and 309; NVIDIA/nccl v2.30.7-1 src/graph/tuning.cc).
"""

from __future__ import annotations

from ncdiag.base.products import Product
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Benchmark
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.benchmarks import (
    ALL_REDUCE,
    best_large_busbw,
    bus_bandwidth,
    carried_gbs,
    goes_round,
    hosts_of,
    program_of,
)
from ncdiag.facts.vocabulary.gpus import has_nvswitch
from ncdiag.nccl.vocabulary.accepted import machines_like, product_in
from ncdiag.nccl.vocabulary.algorithms import may_use, uses_nvls
from ncdiag.nccl.vocabulary.ways import layer_of, way_out

_TWO = 2
_PAIRWISE = frozenset({"sendrecv_perf", "alltoall_perf"})
_USUAL_SHARE = 0.8
"""The least share of the port rate that a healthy network carries."""
_TREE_SHARE = 0.75
"""The least share of a host's internal bandwidth that two hosts reach; rings, which some settings select, exceed it."""
_RING_SHARE, _BOARD_SHARE, _PART_SHARE = 0.78, 0.68, 0.6
"""Shares of the NVLink bandwidth of a GPU: what rings over a board reach, and at least reach, over all or part of it.

Eight were measured at 76% (B200: 682 of 900 GB/s), 78% (A100: 235 of 300) and 81% (H200: 366 of 450), two A100 at 69%.
"""
_PAIR_SHARE = 0.3
"""The same share for tests in which pairs exchange data, over fewer channels."""
_NVLS_SHARE = 0.85
"""The least share of the measured NVLink SHARP bandwidth: 430 of 478 GB/s (NVIDIA/nccl issue 1221)."""
_HALF_A_BOARD = 4
_ANY_NVLINK = 12.0
_NVLINK_SHARE = 0.5
"""The GB/s of an NVLink in NCCL's calculation where the GPU is not known: the lowest value of all.

Rings are certain to reach half of what all links of a GPU carry.
"""


@derived
def limit_gbs(benchmark: Benchmark, view: View) -> float | None:
    """The GB/s that the network ports of one host allow this collective; None for one host, or when no rate is known.

    In ``sendrecv_perf`` each rank sends to the next one: between two hosts one rank does, through at least one port. An
    all-reduce on two hosts may reach the bandwidth between the GPUs of one host.
    """
    way, ranks, hosts = way_out(benchmark, view), benchmark.nranks, hosts_of(benchmark, view)
    if way is None or hosts is None:
        return None
    program = program_of(benchmark, view)
    if program == "sendrecv_perf":
        return min(carried_gbs(way.host, hca, port) for hca, port in way.ports)
    if program == "alltoall_perf" and ranks and ranks > hosts:
        local = ranks // hosts
        return way.gbs / local * (ranks - 1) / (ranks - local)
    if not goes_round(benchmark, view):
        return None
    return max(way.gbs, tree_gbs(benchmark, view) or 0.0)


def tree_gbs(benchmark: Benchmark, view: View) -> float | None:
    """The GB/s that trees reach on two hosts, where the NVLinks inside a host, and not its ports, limit them."""
    way, ranks = way_out(benchmark, view), benchmark.nranks
    if way is None or not ranks or hosts_of(benchmark, view) != _TWO or program_of(benchmark, view) not in ALL_REDUCE:
        return None
    product = product_in(view)
    if product is None or not product.switched or ranks // _TWO != product.board or not may_use("tree", view):
        return None
    inside = product.nvls_gbs if may_use("nvls", view) else None
    reach = inside or _RING_SHARE * product.links * product.link_gbs
    return reach if way.gbs < reach <= way.gbs * 2 * (ranks - 1) / ranks else None


@derived
def fraction_of_limit(benchmark: Benchmark, view: View) -> float | None:
    """The bus bandwidth of the large sizes divided by the part of `limit_gbs` that is possible for these sizes."""
    measured, limit = bus_bandwidth(benchmark), limit_gbs(benchmark, view)
    return measured[0] / (limit * measured[1]) if measured and limit else None


@derived
def least_fraction(benchmark: Benchmark, view: View) -> float | None:
    """The share of `limit_gbs` below which something is wrong.

    It is lower where the cloud of these machines requires less, since its network carries other headers or other jobs.
    """
    limit, way = limit_gbs(benchmark, view), way_out(benchmark, view)
    if not limit or way is None:
        return None
    tree = tree_gbs(benchmark, view)
    usual = max(_USUAL_SHARE * way.gbs, _TREE_SHARE * tree) / limit if tree else _USUAL_SHARE
    layer = layer_of(way, view)
    return min([usual, *(row.accepts / limit for row in machines_like(benchmark, view) if row.layer == layer)])


@derived
def fraction_text(benchmark: Benchmark, view: View) -> str:
    """The reached share of the limit in words: ``9% (2.33 of 25 GB/s)``."""
    measured, limit = bus_bandwidth(benchmark), limit_gbs(benchmark, view)
    if not measured or not limit:
        return "an unknown share"
    return f"{measured[0] / limit:.0%} ({measured[0]:g} of {limit:.3g} GB/s)"


@derived
def in_node_floor(benchmark: Benchmark, view: View) -> float | None:
    """The GB/s that these GPUs of one host reach at least; None for any other machine or collective.

    For GPUs of one model on NVSwitches it follows from their links, for a whole board with NVLink SHARP from its
    measured bandwidth, and for a board without switches from its own floor; else from the NVLinks between the GPUs,
    where all pairs have equally many.
    """
    pairwise = program_of(benchmark, view) in _PAIRWISE
    if hosts_of(benchmark, view) != 1 or not (pairwise or goes_round(benchmark, view)):
        return None
    product, ranks = product_in(view), benchmark.nranks or 0
    share = _share(product, ranks, view) if product is not None else None
    if product is not None and share is not None:
        ring = (_PAIR_SHARE if pairwise else share) * product.links * product.link_gbs
        whole = ranks == product.board and program_of(benchmark, view) in ALL_REDUCE
        fast = product.nvls_gbs if whole and uses_nvls(view.job, view) else None
        return round(max(ring, _NVLS_SHARE * (fast or 0.0)))
    if pairwise:
        return None
    least = product.least if product is not None and ranks == product.board else None
    return least or _nvlink_floor(product, view)


@derived
def is_below_links(benchmark: Benchmark, view: View) -> bool | None:
    """Does the benchmark reach less than the links, or the GPUs of its host, certainly allow?

    None without a known limit.
    """
    fraction, least = fraction_of_limit(benchmark, view), least_fraction(benchmark, view)
    if fraction is not None and least is not None:
        return fraction < least
    best, floor = best_large_busbw(benchmark, view), in_node_floor(benchmark, view)
    return None if best is None or floor is None else best < floor


def _share(product: Product, ranks: int, view: View) -> float | None:
    """The share of a GPU's NVLinks that rings use; None where two or three GPUs may be on a board without a switch."""
    if not product.board or (not product.switched and product.form != "rack"):
        return None
    if ranks > _HALF_A_BOARD and ranks <= product.board:
        return _BOARD_SHARE
    on_switch = ranks == _HALF_A_BOARD or (ranks >= _TWO and has_nvswitch(view.job.hosts[0], view))
    return _PART_SHARE if on_switch and ranks <= product.board else None


def _nvlink_floor(product: Product | None, view: View) -> float | None:
    """Half of what the NVLinks of a GPU carry, where the only host has equally many between all pairs; else None."""
    if len(view.job.hosts) != 1:
        return None
    pairs = [link for link in view.job.hosts[0].links if link.a.startswith("GPU") and link.b.startswith("GPU")]
    counts = {link.nvlink_count for link in pairs}
    links = counts.pop() if len(counts) == 1 else None
    if not links:
        return None
    view.note(pairs[0])
    return round(_NVLINK_SHARE * links * ((product.nccl_gbs if product is not None else None) or _ANY_NVLINK))
