"""Benchmarks and trainings that are slower than their links and GPUs allow."""

from __future__ import annotations

from itertools import accumulate

from ncdiag.base.products import address
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Benchmark, CollectiveSum, Hca, Host, Job, Port, Scaling, TopoLink
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.benchmarks import (
    MEDIUM,
    best_large_busbw,
    device_of,
    pcie_gbs,
    program_of,
)
from ncdiag.facts.vocabulary.gpus import MESH_SIZE, SIBLINGS, gpu_pairs, link_gbs
from ncdiag.facts.vocabulary.job import is_multi_host
from ncdiag.facts.vocabulary.rdma import slow_devices
from ncdiag.facts.vocabulary.told_rates import told_rate
from ncdiag.facts.vocabulary.trainings import LOW, LOW_RDMA, loses_between_nodes, over_rdma, spread_text
from ncdiag.nccl.vocabulary.accepted import held_to, product_in
from ncdiag.nccl.vocabulary.limits import tree_gbs
from ncdiag.nccl.vocabulary.ways import way_out


@derived
def crowded_nic(host: Host, view: View) -> bool | None:
    """Do all ranks of this host send through one RDMA device although they list several of equal rate?

    None when only few ranks of the host, or none of their channels, were seen.
    """
    ranks = [rank for rank in view.ranks_on(host.name) if rank.net == "IB" and len(rank.net_devices or ()) > 1]
    used = [rank.nics_used for rank in ranks if rank.nics_used]
    if len(used) < SIBLINGS:
        return None
    if len({nic for nics in used for nic in nics}) > 1:
        return False
    view.note(ranks[0], "net_devices")
    return not any(slow_devices(rank, view) for rank in ranks)


_LONG_US = 5000.0
"""The duration of a collective in microseconds beside which its latency (a few hundred at most) is negligible."""
_SHORT_LIST = 5
"""The number of sizes from which a table shows a curve."""
_DIP = 0.5
_FEW_ITERATIONS = 5


@derived
def limit_text(benchmark: Benchmark, view: View) -> str:
    """The links that set the limit: ``8 RDMA ports of 400 Gb/s a host``."""
    way = way_out(benchmark, view)
    if way is None:
        return "not known"
    if tree_gbs(benchmark, view) and program_of(benchmark, view) not in {"sendrecv_perf", "alltoall_perf"}:
        return "the bandwidth among the GPUs of a host, which trees reach on two hosts"
    slowest = [text for hca, port in way.ports if (text := _narrow(way.host, hca, port))]
    rate = max(port.rate_gbps or 0 for _, port in way.ports)
    if program_of(benchmark, view) == "sendrecv_perf":
        return f"one RDMA port of {rate:g} Gb/s" + (f", {slowest[0]}" if slowest else "")
    count = round(way.reached)
    word = "RDMA port" if count == 1 else "RDMA ports"
    whose = " a host" if count == len(way.ports) else f" a host (of {len(way.ports)}) that its ranks use"
    return f"{count} {word} of {rate:g} Gb/s{whose}" + (f", {'; '.join(slowest)}" if slowest else "")


@derived
def product_text(benchmark: Benchmark, view: View) -> str:
    """The known data of the GPUs, with source: ``18 NVLinks of 25 GB/s, 478 GB/s with NVLink SHARP (https://...)``."""
    product = product_in(view)
    if product is None:
        return "not known; the bound is of the NVLinks between them"
    told = [f"{product.links} {'xGMI links' if product.form == 'mesh' else 'NVLinks'} of {product.link_gbs:g} GB/s"]
    if product.nvls_gbs:
        told.append(f"{product.nvls_gbs:g} GB/s with NVLink SHARP")
    if product.least:
        told.append(f"{product.least:g} GB/s at the very least")
    return f"{', '.join(told if product.links else [])} ({address(product.source)})".strip()


@derived
def accepted_gbs(benchmark: Benchmark, view: View) -> float | None:
    """The GB/s that a cloud requires of its machines with these GPUs and this network; None where none publishes it."""
    held = held_to(benchmark, view)
    return held.gbs if held is not None else None


@derived
def accepted_by(benchmark: Benchmark, view: View) -> str:
    """The machine of which a cloud requires that bandwidth: ``OCI BM.GPU.H100.8``."""
    held = held_to(benchmark, view)
    return held.name if held is not None else "no machine"


@derived
def accepted_source(benchmark: Benchmark, view: View) -> str:
    """The web address where the cloud publishes its requirement."""
    held = held_to(benchmark, view)
    return address(held.source) if held is not None else ""


_LEAST, _JUDGED = 64 << 10, 4 << 20
"""Sizes in bytes from which rows are compared with, and judged."""


@derived
def dip_text(benchmark: Benchmark, view: View) -> str | None:
    """A size whose bandwidth is less than half of what both smaller and larger sizes reach; for the last, smaller ones.

    Empty for an even curve, None for a table that is too short. Only sizes from 4 MiB on are judged, as NCCL changes
    its protocol below; sizes from 64 KiB on are compared with, since none of them reaches more than a larger one.
    """
    rows = [row for row in benchmark.rows if row.busbw is not None and row.size >= _LEAST]
    values = [row.busbw or 0.0 for row in rows]
    if sum(row.size >= _JUDGED for row in rows) < _SHORT_LIST:
        return "" if len(benchmark.rows) >= _SHORT_LIST else None
    before = [0.0, *accumulate(values, max)]
    behind = list(accumulate(reversed(values), max))[::-1]
    for index, row in enumerate(rows[1:], 1):
        others = min(before[index], behind[index + 1]) if index + 1 < len(rows) else before[index]
        if row.size >= _JUDGED and values[index] < _DIP * others:
            return f"{_size(row.size)} reaches {values[index]:g} GB/s where other sizes reach {others:g}"
    return ""


@derived
def unfit_text(benchmark: Benchmark, view: View) -> str | None:
    """Why the run cannot show the bandwidth of the links; empty when it can, None for a run without rows."""
    if not benchmark.rows:
        return None
    reasons = []
    sizes = [row.size for row in benchmark.rows]
    if max(sizes) < MEDIUM and not _is_slow(benchmark):
        reasons.append(f"its largest size is {_size(max(sizes))}, which measures latency")
    if benchmark.iterations is not None and 0 < benchmark.iterations < _FEW_ITERATIONS:
        reasons.append(f"{benchmark.iterations} iterations measure the start as well")
    return " and ".join(reasons)


@derived
def has_unfit_benchmarks_alone(job: Job, view: View) -> bool:
    """Was each benchmark with a result run in a way that cannot show the bandwidth of the links?"""
    told = [text for run in job.benchmarks if (text := unfit_text(run, view)) is not None]
    return bool(told) and all(told)


def _is_slow(benchmark: Benchmark) -> bool:
    """Does the largest size take so long that its latency is negligible?"""
    last = max(benchmark.rows, key=lambda row: row.size)
    return (last.time_us or 0.0) > _LONG_US


def _narrow(host: Host, hca: Hca, port: Port) -> str | None:
    device = device_of(host, hca)
    pcie = pcie_gbs(device)
    if device is None or pcie is None or pcie >= (port.rate_gbps or 0) / 8:
        return None
    return f"{hca.name} on PCIe x{device.width} at {device.speed_gts:g} GT/s carries {pcie:.3g} GB/s"


def _size(size: int) -> str:
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit:
            return f"{size / unit:.4g} {name}"
    return f"{size} B"


@derived
def smallest_text(scaling: Scaling, view: View) -> str:
    """The basis of the comparison: ``one alone``, or ``one of 8``."""
    return "one alone" if scaling.smallest == 1 else f"one of {scaling.smallest}"


@derived
def overall_text(scaling: Scaling, view: View) -> str:
    """The share of the smallest run's speed per GPU that the largest run keeps: ``42%``."""
    return "an unknown share" if scaling.overall is None else f"{scaling.overall:.0%}"


@derived
def inside_text(scaling: Scaling, view: View) -> str:
    """The share of a GPU's speed that remains in a full node: ``97%``."""
    return "an unknown share" if scaling.inside is None else f"{scaling.inside:.0%}"


@derived
def scales_as_usual(scaling: Scaling, view: View) -> bool | None:
    """Do several nodes, or many GPUs, keep the usual share of the speed? None if not known."""
    if scaling.across is not None:
        return not loses_between_nodes(scaling, view)
    return None if scaling.overall is None else scaling.overall >= LOW


@derived
def network_text(scaling: Scaling, view: View) -> str:
    """The network for which the share is usual, `` over RDMA``, `` over TCP``; empty where it applies to any."""
    if over_rdma(scaling, view):
        return " over RDMA"
    return " over TCP" if scaling.across is not None and scaling.across < LOW_RDMA else ""


@derived
def kept_text(scaling: Scaling, view: View) -> str:
    """The kept share: ``4 nodes keep 95% of the speed of as many single ones``, or of GPUs if nodes are unknown."""
    if scaling.across is not None:
        text = f"{spread_text(scaling, view)} keep {scaling.across:.0%} of the speed of as many single ones"
        return text[:1].upper() + text[1:]
    share, small = overall_text(scaling, view), smallest_text(scaling, view)
    return f"Each of {scaling.gpus} GPUs keeps {share} of the speed of {small}"


@derived
def inside_note(scaling: Scaling, view: View) -> str:
    """The share inside a node, ``; inside one node 97% is kept``, where a run shows it."""
    return "" if scaling.inside is None else f"; inside one node {scaling.inside:.0%} is kept"


@derived
def of_what(scaling: Scaling, view: View) -> str:
    """The unit, and what the rows have in common: ``samples/s; GPU V100, net rdma``."""
    return f"{scaling.unit}; {scaling.case}" if scaling.case else scaling.unit


_SMALL = 1 << 20
_MANY = 16
"""The number of calls of a rank from which their sizes show how a training splits its gradients."""


@derived
def common_bytes(collective: CollectiveSum, view: View) -> int | None:
    """The message size in bytes (a power of two) below which half of all data of the calls is sent; None if unknown.

    Weighted by data, so that barriers and sums of a single number do not affect it.
    """
    buckets = sorted((int(low), calls) for low, calls in collective.sizes.items() if low.isdecimal())
    carried = list(accumulate(low * calls for low, calls in buckets))
    if not carried or not carried[-1]:
        return None
    return next(low * 2 for (low, _), total in zip(buckets, carried, strict=True) if 2 * total >= carried[-1])


@derived
def is_many_and_small(collective: CollectiveSum, view: View) -> bool | None:
    """Are there many calls on each rank, with half of their data in messages below a mebibyte?"""
    common = common_bytes(collective, view)
    if common is None or collective.calls is None:
        return None
    view.note(collective)
    return common <= _SMALL and collective.calls >= _MANY * max(1, len(view.job.ranks))


@derived
def common_size(collective: CollectiveSum, view: View) -> str:
    """The size of most messages as text: ``256 KiB``."""
    common = common_bytes(collective, view) or 0
    return f"{common >> 10} KiB" if common >= 1 << 10 else f"{common} bytes"


@derived
def crosses_sockets(host: Host, view: View) -> bool | None:
    """Does NVLink leave some GPUs unconnected that are on different CPU sockets (level SYS)?"""
    pairs = gpu_pairs(host)
    if not pairs:
        return None
    across = [link for link in pairs if link.level == "SYS"]
    for link in across[:1]:
        view.note(link)
    return bool(across) and not _all_joined(pairs)


def _all_joined(pairs: list[TopoLink]) -> bool:
    """Does NVLink connect all GPUs, directly or through others? Bridges connect pairs only."""
    group_of = {gpu: gpu for link in pairs for gpu in (link.a, link.b)}
    for link in pairs:
        if (link.level or "").startswith("NV"):
            old, new = group_of[link.a], group_of[link.b]
            group_of = {gpu: new if group == old else group for gpu, group in group_of.items()}
    return len(set(group_of.values())) == 1


@derived
def mesh_limit_gbs(benchmark: Benchmark, view: View) -> float | None:
    """The highest GB/s that some GPUs of a mesh can reach over the links between them; None for others."""
    if is_multi_host(view.job, view) or benchmark.nranks is None or not 2 <= benchmark.nranks < MESH_SIZE:  # noqa: PLR2004
        return None
    gpus = [gpu for host in view.job.hosts for gpu in host.gpus if gpu.model]
    rate = link_gbs(gpus[0]) if gpus else None
    if rate is None:
        return None
    view.note(gpus[0], "model")
    return round(rate * (benchmark.nranks - 1), 1)


@derived
def uses_part_of_mesh(benchmark: Benchmark, view: View) -> bool | None:
    """Is the benchmark limited by the links of a part of a mesh: does it reach at least half of that limit?"""
    limit, reached = mesh_limit_gbs(benchmark, view), best_large_busbw(benchmark, view)
    told = benchmark.nranks is not None and any(gpu.model for host in view.job.hosts for gpu in host.gpus)
    if limit is None:
        return False if told else None
    return None if reached is None else bool(limit / 2 <= reached <= limit)


_ETHERNET = 1.1
"""The highest rate of Gigabit Ethernet in Gbit/s."""
_FILLED = 0.6
"""The rate in Gbit/s from which Gigabit Ethernet is saturated; a lower rate may have other reasons."""


@derived
def told_gigabit(job: Job, view: View) -> bool | None:
    """Do people say that the hosts are connected by 1 Gbit/s Ethernet, or mention a rate that saturates it?"""
    links = told_rate(job, view, {"link"})
    if links is not None:
        return links <= _ETHERNET
    reached = told_rate(job, view, {"nccl", "job", "tcp", "tcp-stream"})
    return None if reached is None else _FILLED <= reached <= _ETHERNET


@derived
def sets_protocol(job: Job, view: View) -> bool:
    """Does the input show that NCCL_PROTO is set?"""
    setting = view.setting(job, "NCCL_PROTO")
    return setting is not None and setting.is_set is not False
