"""What a benchmark reached of what the network allows."""

from __future__ import annotations

from collections import Counter

from ncdiag.facts.model import Benchmark
from ncdiag.facts.view import View, derived

LARGE = 256 << 20
"""Bytes from which a size says something about bandwidth; smaller ones are bound by latency."""


def _large_busbw(benchmark: Benchmark) -> float | None:
    values = [row.busbw for row in benchmark.rows if row.size >= LARGE and row.busbw is not None]
    return max(values) if values else None


@derived
def limit_gbs(benchmark: Benchmark, view: View) -> float | None:
    """The wire rate of one host in GB/s: its active RDMA ports of the fastest rate, all together.

    The bus bandwidth of a collective over several hosts cannot exceed what one host's ports carry. None for one host,
    or when no port's rate is known.
    """
    hosts = benchmark.nhosts or view.job.nhosts
    if hosts is None or hosts < 2:  # noqa: PLR2004
        return None
    per_host = []
    for host in view.job.hosts:
        rates = [p.rate_gbps for d in host.hcas for p in d.ports if p.state == "active" and p.rate_gbps]
        if rates:
            fastest = max(rates)
            per_host.append(fastest * Counter(rates)[fastest] / 8)
    return min(per_host) if per_host else None


@derived
def fraction_of_limit(benchmark: Benchmark, view: View) -> float | None:
    """Bus bandwidth of the large sizes over `limit_gbs`."""
    reached, limit = _large_busbw(benchmark), view.get(benchmark, "limit_gbs")
    return reached / limit if reached is not None and limit else None


@derived
def fraction_text(benchmark: Benchmark, view: View) -> str:
    """``9% (2.33 of 25 GB/s)``."""
    fraction, reached, limit = (
        view.get(benchmark, "fraction_of_limit"),
        _large_busbw(benchmark),
        view.get(benchmark, "limit_gbs"),
    )
    return f"{fraction:.0%} ({reached:g} of {limit:g} GB/s)" if fraction is not None else "an unknown share"
