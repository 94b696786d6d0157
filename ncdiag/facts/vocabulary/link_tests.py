"""Compare the result of perftest with the rate of the port, with the same test from host memory, and with NCCL.

Acceptance thresholds of providers for ``ib_write_bw`` are 90 to 96% of the port's rate with large messages
(Azure/azurehpc-health-checks, oracle-quickstart/oci-hpc); perftest's default of 64 KiB over one queue pair stays below
that on fast ports.
"""

from __future__ import annotations

from collections.abc import Iterator

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Benchmark, Host, LinkTest
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.benchmarks import bus_bandwidth, fastest_ports, goes_round, hosts_of

ENOUGH_OF_TESTED = 0.7
"""The share of perftest's result that a benchmark reaches on a healthy system."""
_SMALLEST = 64 << 10
"""The message size in bytes from which a test shows bandwidth; it is perftest's default."""
_LARGE, _MEDIUM_SHARE = 1 << 20, 0.75
"""The message size in bytes from which one queue pair fills a fast link, and the least share that others reach."""


@derived
def from_host_memory(test: LinkTest, view: View) -> float | None:
    """The result in Gbit/s of the same test of the same device from host memory, at one of the sizes of this test.

    None where there was no such test, or where the buffers of this test are not on a GPU.
    """
    best = None
    for other in view.job.link_tests if test.memory == "gpu" else ():
        for row in other.rows if is_alike(test, other) else ():
            rate = row.average_gbps
            if rate is not None and row.size >= _SMALLEST and _at(test, row.size) and (best is None or rate > best):
                best = rate
                view.note(other, "rows")
    return best


@derived
def fraction_of_host_memory(test: LinkTest, view: View) -> float | None:
    """The result from GPU memory divided by that of the same test from host memory."""
    found = measured_bandwidth(test)
    host = from_host_memory(test, view)
    return found[0] / host if found and host else None


@derived
def device_text(test: LinkTest, view: View) -> str:
    """The device that was tested, with its host: ``mlx5_0 of n1``."""
    return " of ".join(part for part in (test.hca or "an RDMA device", test.host) if part)


@derived
def bus_ids(test: LinkTest, view: View) -> str:
    """The bus id of the tested card, ``0000:17:00.0``; ``<bus id of mlx5_0>`` where it is not known."""
    found = [
        hca.bus_id for host in hosts_of_test(test, view) for hca in host.hcas if hca.name == test.hca and hca.bus_id
    ]
    return found[0] if len(set(found)) == 1 else f"<bus id of {test.hca or 'the card'}>"


@derived
def tested_gbs(benchmark: Benchmark, view: View) -> float | None:
    """The bandwidth in GB/s that link tests show for all ports of one host, or for one port if their number is unknown.

    iperf3 measures the total of a host's sockets. None when no test was run, or for a collective that does not go round
    a ring over several hosts.
    """
    hosts = hosts_of(benchmark, view)
    if hosts is None or hosts < 2 or not goes_round(benchmark, view):  # noqa: PLR2004
        return None
    tests = [(measured_bandwidth(test), test) for test in view.job.link_tests]
    ports = min((count for host in view.job.hosts if (count := len(list(fastest_ports(host))))), default=1)
    used = max(1, min(ports, (benchmark.nranks or hosts) // hosts))
    rates = [(found[0] / ways(test) * used, test) for found, test in tests if found is not None]
    rates += [(test.gbps, test) for test in view.job.link_tests if test.gbps is not None]
    if not rates:
        return None
    rate, best = max(rates, key=lambda item: item[0])
    view.note(best)
    return rate / 8


@derived
def fraction_of_tested(benchmark: Benchmark, view: View) -> float | None:
    """The bus bandwidth of the large sizes divided by the bandwidth that the tested links allow for these sizes."""
    reached = bus_bandwidth(benchmark)
    tested = tested_gbs(benchmark, view)
    if not reached or not tested:
        return None
    view.note(benchmark)
    return reached[0] / (tested * reached[1])


@derived
def tested_text(benchmark: Benchmark, view: View) -> str:
    """The measured part of the tested bandwidth in words: ``8.2 of the 97.8 GB/s``."""
    reached, tested = bus_bandwidth(benchmark), tested_gbs(benchmark, view)
    return f"{reached[0]:.3g} of the {tested:.3g} GB/s" if reached and tested else "an unknown share"


def measured_bandwidth(test: LinkTest) -> tuple[float, float] | None:
    """The best bandwidth in Gbit/s, and the share of the link that sizes like it reach on a healthy system."""
    for least, share in ((_LARGE, 1.0), (_SMALLEST, _MEDIUM_SHARE)):
        values = [row.average_gbps for row in test.rows if row.size >= least and row.average_gbps is not None]
        if values:
            return max(values), share
    return None


def ways(test: LinkTest) -> int:
    """The number of ways, ports and directions, whose rates the results of a test add up."""
    return (2 if test.bidirectional else 1) * (2 if test.dual_port else 1)


def hosts_of_test(test: LinkTest, view: View) -> Iterator[Host]:
    """The host that the test ran on; where that is not known, all hosts that have a device of that name."""
    named = view.host(test.host)
    hosts = [named] if named is not None and named.hcas else view.job.hosts
    return (host for host in hosts if any(hca.name == test.hca for hca in host.hcas))


def is_alike(test: LinkTest, other: LinkTest) -> bool:
    """Do the two tests differ in their memory only?"""
    same = (test.program, test.hca, bool(test.bidirectional), bool(test.dual_port))
    here = test.host is None or other.host is None or test.host == other.host
    return (
        other.memory == "host" and here and test.hca is not None
        and same == (other.program, other.hca, bool(other.bidirectional), bool(other.dual_port))
    )  # fmt: skip


def _at(test: LinkTest, size: int) -> bool:
    return any(row.size == size and row.average_gbps is not None for row in test.rows)
