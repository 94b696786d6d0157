"""How a training's speed grows with its GPUs, and where the loss begins: inside a node or between nodes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Job, Scaling, Throughput
from ncdiag.facts.view import View

_LOW, _LOW_RDMA = 0.7, 0.9
"""Shares of a node's speed below which the loss between nodes is not usual: over any network, and over RDMA."""


@derived
def scalings(job: Job, view: View) -> tuple[Scaling, ...]:
    """One for each unit and case of which runs with different numbers of GPUs were seen."""
    groups: dict[tuple[str, str], list[Throughput]] = defaultdict(list)
    for run in job.throughputs:
        if run.gpus > 0 and run.per_second > 0:
            groups[run.unit, run.case].append(run)
    return tuple(found for runs in groups.values() if (found := _scaling(sorted(runs, key=_size))) is not None)


def _size(run: Throughput) -> tuple[int, int]:
    return run.gpus, run.nodes or 0


def _scaling(runs: list[Throughput]) -> Scaling | None:
    """What the smallest run, the largest on one node and the largest of all say."""
    first, last = runs[0], runs[-1]
    if last.gpus == first.gpus:
        return None
    on_one = [run for run in runs if run.nodes == 1]
    inside = _share(on_one[-1], on_one[0]) if on_one and on_one[-1].gpus > on_one[0].gpus else None
    across = _share(last, on_one[-1]) if on_one and (last.nodes or 1) > 1 else None
    overall = _share(last, first) if last.nodes is None else None
    read = {"": last, "across": last, "overall": last} | ({"inside": on_one[-1]} if on_one else {})
    provenance = {field: span for field, run in read.items() if (span := run.provenance.get(""))}
    return Scaling(
        unit=last.unit, gpus=last.gpus, nodes=last.nodes, inside=inside, across=across, smallest=first.gpus,
        overall=overall, provenance=provenance,
    )  # fmt: skip


def _share(large: Throughput, small: Throughput) -> float:
    return (large.per_second / large.gpus) / (small.per_second / small.gpus)


@derived
def loses_between_nodes(scaling: Scaling, view: View) -> bool | None:
    """Is more lost between nodes than is usual over their network?"""
    if scaling.across is None:
        return None
    rdma = any(rank.net not in (None, "Socket") for rank in view.job.ranks)
    return scaling.across < (_LOW_RDMA if rdma else _LOW)


@derived
def across_text(scaling: Scaling, view: View) -> str:
    """The share of a node's speed that is left on several nodes: ``61%``."""
    return "an unknown share" if scaling.across is None else f"{scaling.across:.0%}"


@derived
def slowness_of_training(job: Job, view: View) -> str | None:
    """The same of trainings alone: what slows a framework down does not slow a benchmark."""
    return next(slow_trainings(job, view), "" if job.throughputs else None)


def slow_trainings(job: Job, view: View) -> Iterator[str]:
    """What was measured of trainings that lose speed between nodes, a sentence each."""
    for scaling in scalings(job, view):
        if loses_between_nodes(scaling, view):
            view.note(scaling)
            yield f"{scaling.nodes} nodes keep {across_text(scaling, view)} of the speed"
