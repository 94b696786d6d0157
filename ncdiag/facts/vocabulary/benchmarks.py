"""The test that a benchmark runs and the bandwidth it reached; the RDMA ports of a host and the bandwidth of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Benchmark, Hca, Host, PciDevice, Port
from ncdiag.facts.view import View

LARGE = 1 << 30
"""The size in bytes from which the result shows the bandwidth of the links; smaller ones are bound by latency."""
MEDIUM = 256 << 20
MEDIUM_SHARE = 0.6
"""The share of the bandwidth that sizes from ``MEDIUM`` on reach at least; smaller sizes are not judged."""
ALL_REDUCE = frozenset({"all_reduce_perf", "all_reduce_bench"})
_HOST_RINGS = ALL_REDUCE | {"all_gather_perf", "reduce_scatter_perf", "broadcast_perf", "reduce_perf"}
_TESTS = lazy_regex(
    r"\b((?:all_|reduce_)?(?:reduce|gather|scatter|toall|alltoall|broadcast|sendrecv|hypercube)_perf)\b"
)
_SOME_REDUCTION = "reduce_perf"
"""Stands for any reduction whose bus bandwidth goes round a ring, where the table does not show which one it is."""
_OLD_SPEED = 5.0  # GT/s up to which PCIe uses 2 of 10 bits for coding, above it 2 of 130


@derived
def test_name(benchmark: Benchmark, view: View) -> str:
    """The name of the test (``all_reduce_perf``), as far as it is known."""
    program = program_of(benchmark, view)
    return program if program is not None and program != _SOME_REDUCTION else "The benchmark"


@derived
def best_large_busbw(benchmark: Benchmark, view: View) -> float | None:
    """The best bus bandwidth in GB/s of the sizes from one gibibyte on."""
    measured = bus_bandwidth(benchmark)
    return measured[0] if measured and measured[1] == 1 else None


def hosts_of(benchmark: Benchmark, view: View) -> int | None:
    """The number of hosts of the benchmark: from its own table, the job, or all launch lines; None if unknown."""
    launched = {launch.nnodes or len({host.name for host in launch.hosts}) for launch in view.job.launches}
    return benchmark.nhosts or view.job.nhosts or (launched.pop() if len(launched) == 1 else None) or None


def program_of(benchmark: Benchmark, view: View) -> str | None:
    """The name of the test: as printed, from the launch line, or inferred from its rows; few releases print the name.

    Bus bandwidth divided by algorithm bandwidth is 2(n-1)/n for an all-reduce only, and only reductions name an
    operation in their rows. The ratio is 1 for broadcast and sendrecv, and (n-1)/n for all-gather and all-to-all, which
    cannot be distinguished.
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
    """Does the bus bandwidth of the test correspond to a ring over all hosts?"""
    return program_of(benchmark, view) in _HOST_RINGS


def _factor(benchmark: Benchmark) -> float:
    """Bus bandwidth divided by algorithm bandwidth, from the row with the least rounding error; 0 if unknown."""
    row = max(benchmark.rows, key=lambda row: row.algbw or 0)
    return (row.busbw or 0) / row.algbw if row.algbw else 0


def bus_bandwidth(benchmark: Benchmark) -> tuple[float, float] | None:
    """The best bus bandwidth in GB/s, and the share of the limit that sizes like it reach on a healthy system."""
    for least, share in ((LARGE, 1.0), (MEDIUM, MEDIUM_SHARE)):
        values = [row.busbw for row in benchmark.rows if row.size >= least and row.busbw is not None]
        if values:
            return max(values), share
    return None


def fastest_ports(host: Host) -> Iterator[tuple[Hca, Port]]:
    """The active RDMA ports of the host that have the highest rate."""
    return fastest((hca, port) for hca in host.hcas for port in hca.ports)


def fastest(ports: Iterable[tuple[Hca, Port]]) -> Iterator[tuple[Hca, Port]]:
    """Those of the given ports that are active and have the highest rate among the active ones."""
    held = [(hca, port) for hca, port in ports if port.state == "active" and port.rate_gbps]
    most = max((port.rate_gbps or 0 for _, port in held), default=0)
    return ((hca, port) for hca, port in held if port.rate_gbps == most)


def carried_gbs(host: Host, hca: Hca, port: Port) -> float:
    """The bandwidth of a port in GB/s: its rate, or that of the PCIe link of its card where that is known and lower."""
    rate, pcie = (port.rate_gbps or 0) / 8, pcie_gbs(device_of(host, hca))
    return min(rate, pcie) if pcie else rate


def device_of(host: Host, hca: Hca) -> PciDevice | None:
    """The PCI device of an RDMA card; None when no output lists it."""
    return next((device for device in host.pci if hca.bus_id and device.bus_id == hca.bus_id), None)


def pcie_gbs(device: PciDevice | None) -> float | None:
    """The bandwidth of a PCIe link in one direction in GB/s, without the overhead of packets; None if unknown."""
    if device is None or not device.width or not device.speed_gts:
        return None
    return lanes_gbs(device.speed_gts, device.width)


def lanes_gbs(speed_gts: float, width: int) -> float:
    """The bandwidth of ``width`` PCIe lanes in one direction in GB/s, each with ``speed_gts`` GT/s (10^9 transfers)."""
    coding = 0.8 if speed_gts <= _OLD_SPEED else 128 / 130
    return speed_gts * width * coding / 8


@derived
def has_wrong_results(benchmark: Benchmark, view: View) -> bool | None:
    """Did the check of the results find wrong elements? None when nothing was checked."""
    rows = [value for row in benchmark.rows for value in (row.wrong, row.in_place_wrong) if value is not None]
    if any(rows) or (benchmark.out_of_bounds or 0) > 0:
        view.note(benchmark)
        return True
    return False if rows or benchmark.out_of_bounds is not None else None
