"""The bandwidth that clouds require of their own machines, as a reference for similar machines."""

from __future__ import annotations

import msgspec

from ncdiag.base.products import Machine, Product, name_of, product_of, products
from ncdiag.facts.model import Benchmark
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.benchmarks import ALL_REDUCE, hosts_of, program_of
from ncdiag.nccl.vocabulary.algorithms import may_use
from ncdiag.nccl.vocabulary.ways import way_out


def product_in(view: View) -> Product | None:
    """Return the product data of the job's GPUs, where all of them are of one known model; else None."""
    models = {gpu.model for host in view.job.hosts for gpu in host.gpus if gpu.model}
    return product_of(models.pop()) if len(models) == 1 else None


class Held(msgspec.Struct, frozen=True):
    """A machine type of a cloud, and the bandwidth in GB/s that the cloud requires of it."""

    gbs: float
    name: str
    source: str


def held_to(benchmark: Benchmark, view: View) -> Held | None:
    """Return the lowest requirement of a cloud for a machine with these GPUs and, on several hosts, this network.

    Only that of the job's own cloud where it is known. None where NVLink SHARP, which the clouds use, is switched off.
    """
    product, ranks = product_in(view), benchmark.nranks
    if product is None or (product.nvls_gbs and not may_use("nvls", view)):
        return None
    rows = [Held(row.accepts, row.name, row.source) for row in machines_like(benchmark, view)]
    if hosts_of(benchmark, view) == 1 and program_of(benchmark, view) in ALL_REDUCE:
        own = _clouds(view)
        rows = [
            Held(row.gbs, row.name, row.source)
            for row in product.accepts if row.gpus == ranks and (not own or row.cloud in own)
        ]  # fmt: skip
    return min(rows, key=lambda row: row.gbs, default=None)


def machines_like(benchmark: Benchmark, view: View) -> list[Machine]:
    """Return the machine types with the GPUs and the network of this run, of the hosts' own cloud where it is known."""
    models = {name_of(gpu.model) for host in view.job.hosts for gpu in host.gpus if gpu.model}
    product, program, hosts = product_in(view), program_of(benchmark, view), hosts_of(benchmark, view)
    if product is None or product.board is None or hosts is None or benchmark.nranks != hosts * product.board:
        return []
    own, way = _clouds(view), way_out(benchmark, view)
    networks = {rank.net for rank in view.job.ranks if rank.net}
    gbps = way.reached * (way.ports[0][1].rate_gbps or 0.0) if way is not None else None
    return [
        row for row in products().machine
        if row.gpu in models and (row.test, row.hosts) == (program, hosts) and (not own or row.cloud in own)
        and (row.total_gbps == gbps if row.network is None else any(row.network in network for network in networks))
    ]  # fmt: skip


def _clouds(view: View) -> set[str]:
    return {host.cloud for host in view.job.hosts if host.cloud}
