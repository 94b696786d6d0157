"""What clouds demand of their own machines, as a measure for those that are like them."""

from __future__ import annotations

import msgspec

from ncdiag.base.products import Machine, Product, name_of, product_of, products
from ncdiag.facts.model import Benchmark
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.benchmarks import ALL_REDUCE, hosts_of, program_of
from ncdiag.nccl.vocabulary.algorithms import may_use
from ncdiag.nccl.vocabulary.ways import way_out


def product_in(view: View) -> Product | None:
    """What the GPUs of the job can do, where all of them are of one model that is known."""
    models = {gpu.model for host in view.job.hosts for gpu in host.gpus if gpu.model}
    return product_of(models.pop()) if len(models) == 1 else None


class Held(msgspec.Struct, frozen=True):
    """A machine of a cloud, and GB/s to which that cloud holds it, or machines like it."""

    gbs: float
    name: str
    source: str


def held_to(benchmark: Benchmark, view: View) -> Held | None:
    """The least that a cloud demands of a machine with these GPUs and, on several hosts, of so much network.

    Its own cloud's where that is known. None where NVLink SHARP, with which the clouds measure, is switched off.
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
    """The rows of machines with the GPUs and the network of this run, of the cloud of its hosts where that is known."""
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
