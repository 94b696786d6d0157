"""What a benchmark reached of what the links allow, which link is the limit, and the shape of its curve.

Bus bandwidth is defined so that a ring's links carry it (nccl-tests doc/PERFORMANCE.md): of a collective over several
hosts it cannot exceed what the network ports of one host carry together. Of an all-to-all only the part for ranks on
other hosts crosses them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Benchmark, Hca, Host, PciDevice, Port
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.gpus import module_of

LARGE = 1 << 30
"""Bytes from which a size shows the bandwidth of the links; smaller ones are bound by latency."""
MEDIUM = 256 << 20
MEDIUM_SHARE = 0.6
"""What sizes from ``MEDIUM`` on reach of the links at least; below that nothing can be said."""
_HOST_RINGS = frozenset({
    "all_reduce_perf", "all_gather_perf", "reduce_scatter_perf", "broadcast_perf", "reduce_perf", "all_reduce_bench",
})  # fmt: skip
_TESTS = re.compile(
    r"\b((?:all_|reduce_)?(?:reduce|gather|scatter|toall|alltoall|broadcast|sendrecv|hypercube)_perf)\b"
)
_SOME_REDUCTION = "reduce_perf"
"""Stands for the reductions whose bandwidth goes round a ring when the table does not tell which it is."""
_FLOORS = ((re.compile(r"V100-SXM"), 110), (re.compile(r"MI300X\b"), 280))
"""GB/s that eight GPUs in a cube mesh or on xGMI reach at the very least.

V100: an acceptance threshold of Azure; MI300X: nine tenths of what was measured.
"""
_FLOOR_RANKS = 8
_MODULE_SHARES = {8: 0.68, 4: 0.6}
"""What rings over that many modules reach of their NVLinks at the very least, also without NVLS.

Eight were measured at 76% (B200: 682 of 900 GB/s), 78% (A100: 235 of 300) and 81% (H200: 366 of 450).
"""
_PAIR_SHARE = 0.3
"""The same of tests in which pairs exchange data, over fewer channels."""
_PAIRWISE = frozenset({"sendrecv_perf", "alltoall_perf"})
_PER_NVLINK = ((re.compile(r"P100"), 18.0), (re.compile(r"[VA]100|A800"), 20.0), (re.compile(r"H[128]00|H20\b"), 20.6))
_ANY_NVLINK = 12.0
_NVLINK_SHARE = 0.5
"""GB/s of a link as NCCL reckons with it (src/graph/topo.h), for another GPU the least of them.

Half of what all links of a GPU carry is what rings over them are sure to reach.
"""
_OLD_SPEED = 5.0  # GT/s up to which PCIe spends 2 of 10 bits on coding, 2 of 130 above


@derived
def limit_gbs(benchmark: Benchmark, view: View) -> float | None:
    """GB/s that the network ports of one host allow this collective; None for one host, or when no rate is known.

    In ``sendrecv_perf`` each rank sends to the next one: between two hosts one rank does, through one port at least.
    """
    hosts, ranks = _nhosts(benchmark, view), benchmark.nranks
    carried = [rates for host in view.job.hosts if (rates := list(port_rates_gbs(host)))]
    if hosts is None or hosts < 2 or not carried:  # noqa: PLR2004
        return None
    total, program = min(map(sum, carried)), program_of(benchmark, view)
    if program == "sendrecv_perf":
        return min(map(min, carried))
    if program == "alltoall_perf" and ranks and ranks > hosts:
        local = ranks // hosts
        return total / local * (ranks - 1) / (ranks - local)
    return total if goes_round(benchmark, view) else None


@derived
def test_name(benchmark: Benchmark, view: View) -> str:
    """``all_reduce_perf``, as far as it is known."""
    program = program_of(benchmark, view)
    return program if program is not None and program != _SOME_REDUCTION else "The benchmark"


@derived
def fraction_of_limit(benchmark: Benchmark, view: View) -> float | None:
    """Bus bandwidth of the large sizes over what `limit_gbs` lets sizes like them reach."""
    measured, limit = bus_bandwidth(benchmark), limit_gbs(benchmark, view)
    return measured[0] / (limit * measured[1]) if measured and limit else None


@derived
def fraction_text(benchmark: Benchmark, view: View) -> str:
    """``9% (2.33 of 25 GB/s)``."""
    measured, limit = bus_bandwidth(benchmark), limit_gbs(benchmark, view)
    if not measured or not limit:
        return "an unknown share"
    return f"{measured[0] / limit:.0%} ({measured[0]:g} of {limit:.3g} GB/s)"


@derived
def in_node_floor(benchmark: Benchmark, view: View) -> float | None:
    """GB/s that these GPUs of one host reach at least; None for any other machine or collective.

    Modules of one model on a board of four or eight; other GPUs by what was measured of eight; else what the NVLinks
    between them carry, where all pairs have as many.
    """
    pairwise = program_of(benchmark, view) in _PAIRWISE
    if _nhosts(benchmark, view) != 1 or not (pairwise or goes_round(benchmark, view)):
        return None
    models = {gpu.model: gpu for host in view.job.hosts for gpu in host.gpus if gpu.model}
    model, gpu = next(iter(models.items())) if len(models) == 1 else ("", None)
    module, share = module_of(gpu) if gpu is not None else None, _MODULE_SHARES.get(benchmark.nranks or 0)
    if module is not None and share is not None:
        return round((_PAIR_SHARE if pairwise else share) * module.links * module.link_gb_per_s)
    if pairwise:
        return None
    known = (floor for pattern, floor in _FLOORS if pattern.search(model) and benchmark.nranks == _FLOOR_RANKS)
    return next(known, None) or _nvlink_floor(model, view)


def _nvlink_floor(model: str, view: View) -> float | None:
    """Half of what the NVLinks of a GPU carry, where the topology of the only host has as many between all pairs."""
    if len(view.job.hosts) != 1:
        return None
    pairs = [link for link in view.job.hosts[0].links if link.a.startswith("GPU") and link.b.startswith("GPU")]
    counts = {link.nvlink_count for link in pairs}
    links = counts.pop() if len(counts) == 1 else None
    if not links:
        return None
    view.note(pairs[0])
    each = next((rate for pattern, rate in _PER_NVLINK if pattern.search(model)), _ANY_NVLINK)
    return round(_NVLINK_SHARE * links * each)


@derived
def best_large_busbw(benchmark: Benchmark, view: View) -> float | None:
    """GB/s of the best size from a gibibyte on."""
    measured = bus_bandwidth(benchmark)
    return measured[0] if measured and measured[1] == 1 else None


def _nhosts(benchmark: Benchmark, view: View) -> int | None:
    return benchmark.nhosts or view.job.nhosts


def program_of(benchmark: Benchmark, view: View) -> str | None:
    """The test: by its name, by the one that is launched, or by what its rows tell; few releases print the name.

    Bus over algorithm bandwidth is 2(n-1)/n for an all-reduce alone, and rows that name an operation are of a
    reduction. Broadcast and sendrecv have 1, all-gather and all-to-all (n-1)/n: those are not told apart.
    """
    if benchmark.program is not None:
        return benchmark.program
    launched: set[str] = {name for launch in view.job.launches for name in _TESTS.findall(launch.text)}
    if len(launched) == 1:
        return launched.pop()
    if any(row.redop not in (None, "none") for row in benchmark.rows):
        return "all_reduce_perf" if _factor(benchmark) > 1 else _SOME_REDUCTION
    return None


def goes_round(benchmark: Benchmark, view: View) -> bool:
    """Does its bus bandwidth go round a ring of all hosts?"""
    return program_of(benchmark, view) in _HOST_RINGS


def _factor(benchmark: Benchmark) -> float:
    """Bus bandwidth over algorithm bandwidth in the row where rounding matters least; 0 where no row tells."""
    row = max(benchmark.rows, key=lambda row: row.algbw or 0)
    return (row.busbw or 0) / row.algbw if row.algbw else 0


def bus_bandwidth(benchmark: Benchmark) -> tuple[float, float] | None:
    """The best bus bandwidth, and the share of the limit that sizes like it reach when all is well."""
    for least, share in ((LARGE, 1.0), (MEDIUM, MEDIUM_SHARE)):
        values = [row.busbw for row in benchmark.rows if row.size >= least and row.busbw is not None]
        if values:
            return max(values), share
    return None


def fastest_ports(host: Host) -> Iterator[tuple[Hca, Port]]:
    """The active ports of the fastest rate: those that NCCL uses."""
    held = [(hca, port) for hca in host.hcas for port in hca.ports if port.state == "active" and port.rate_gbps]
    fastest = max((port.rate_gbps or 0 for _, port in held), default=0)
    return ((hca, port) for hca, port in held if port.rate_gbps == fastest)


def port_rates_gbs(host: Host) -> Iterator[float]:
    """GB/s of each of these ports."""
    return (carried_gbs(host, hca, port) for hca, port in fastest_ports(host))


def carried_gbs(host: Host, hca: Hca, port: Port) -> float:
    """GB/s of a port: its rate, or that of the PCIe link of its card where that is known and lower."""
    rate, pcie = (port.rate_gbps or 0) / 8, pcie_gbs(device_of(host, hca))
    return min(rate, pcie) if pcie else rate


def device_of(host: Host, hca: Hca) -> PciDevice | None:
    """The PCI device of an RDMA card; None when it was not listed."""
    return next((device for device in host.pci if hca.bus_id and device.bus_id == hca.bus_id), None)


def pcie_gbs(device: PciDevice | None) -> float | None:
    """What the link carries in one direction, before the overhead of packets."""
    if device is None or not device.width or not device.speed_gts:
        return None
    coding = 0.8 if device.speed_gts <= _OLD_SPEED else 128 / 130
    return device.speed_gts * device.width * coding / 8


@derived
def has_wrong_results(benchmark: Benchmark, view: View) -> bool | None:
    """Did the check of the results find wrong elements? None when nothing was checked."""
    rows = [value for row in benchmark.rows for value in (row.wrong, row.in_place_wrong) if value is not None]
    if any(rows) or (benchmark.out_of_bounds or 0) > 0:
        view.note(benchmark)
        return True
    return False if rows or benchmark.out_of_bounds is not None else None
