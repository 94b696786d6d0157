"""Which test a benchmark is and what it reached; the RDMA ports of a host and what each of them carries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Benchmark, Hca, Host, PciDevice, Port
from ncdiag.facts.view import View

LARGE = 1 << 30
"""Bytes from which a size shows the bandwidth of the links; smaller ones are bound by latency."""
MEDIUM = 256 << 20
MEDIUM_SHARE = 0.6
"""What sizes from ``MEDIUM`` on reach of the links at least; below that nothing can be said."""
ALL_REDUCE = frozenset({"all_reduce_perf", "all_reduce_bench"})
_HOST_RINGS = ALL_REDUCE | {"all_gather_perf", "reduce_scatter_perf", "broadcast_perf", "reduce_perf"}
_TESTS = lazy_regex(
    r"\b((?:all_|reduce_)?(?:reduce|gather|scatter|toall|alltoall|broadcast|sendrecv|hypercube)_perf)\b"
)
_SOME_REDUCTION = "reduce_perf"
"""Stands for the reductions whose bandwidth goes round a ring when the table does not tell which it is."""
_OLD_SPEED = 5.0  # GT/s up to which PCIe spends 2 of 10 bits on coding, 2 of 130 above


@derived
def test_name(benchmark: Benchmark, view: View) -> str:
    """``all_reduce_perf``, as far as it is known."""
    program = program_of(benchmark, view)
    return program if program is not None and program != _SOME_REDUCTION else "The benchmark"


@derived
def best_large_busbw(benchmark: Benchmark, view: View) -> float | None:
    """GB/s of the best size from a gibibyte on."""
    measured = bus_bandwidth(benchmark)
    return measured[0] if measured and measured[1] == 1 else None


def hosts_of(benchmark: Benchmark, view: View) -> int | None:
    """How many hosts it runs on: by its own table, else by the job."""
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
    """The active ports of the fastest rate."""
    return fastest((hca, port) for hca in host.hcas for port in hca.ports)


def fastest(ports: Iterable[tuple[Hca, Port]]) -> Iterator[tuple[Hca, Port]]:
    """Those of these ports that are active and have the fastest rate of all that are."""
    held = [(hca, port) for hca, port in ports if port.state == "active" and port.rate_gbps]
    most = max((port.rate_gbps or 0 for _, port in held), default=0)
    return ((hca, port) for hca, port in held if port.rate_gbps == most)


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
    return lanes_gbs(device.speed_gts, device.width)


def lanes_gbs(speed_gts: float, width: int) -> float:
    """GB/s of so many lanes of PCIe in one direction, each of ``speed_gts`` gigatransfers a second."""
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
