"""How the speed of a training scales with its GPUs, and whether speed is lost inside a node or between nodes."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Job, Scaling, Throughput
from ncdiag.facts.view import View

_IMPOSSIBLE = 1.3
"""A larger gain is implausible: caches and smaller batch shares speed a GPU up by a few percent only."""
_RDMA = lazy_regex(r"\b(?:rdma|roce|infiniband|ib)\b", re.IGNORECASE)
LOW, LOW_RDMA = 0.7, 0.9
"""Shares of a node's speed below which the loss between nodes is unusual: over any network, and over RDMA."""


@derived
def scalings(job: Job, view: View) -> tuple[Scaling, ...]:
    """One scaling for each unit and case with runs on different numbers of GPUs."""
    groups: dict[tuple[str, str], list[Throughput]] = defaultdict(list)
    for run in job.throughputs:
        if run.gpus > 0 and run.per_second > 0:
            groups[run.unit, run.case].append(run)
    return tuple(found for runs in groups.values() if (found := _scaling(sorted(runs, key=_size))) is not None)


def _size(run: Throughput) -> tuple[int, int]:
    return run.gpus, run.nodes or run.several


def _scaling(runs: list[Throughput]) -> Scaling | None:
    """Compare the smallest run, the largest run on one node and the largest run of all."""
    first, last = runs[0], runs[-1]
    if last.gpus == first.gpus:
        return None
    on_one = [run for run in runs if run.nodes == 1]
    inside = _share(on_one[-1], on_one[0]) if on_one and on_one[-1].gpus > on_one[0].gpus else None
    spread = last.several or (last.nodes or 1) > 1
    across = _share(last, on_one[-1]) if on_one and spread else None
    overall = _share(last, first) if last.nodes is None and not last.several else None
    read = {"": last, "across": last, "overall": last} | ({"inside": on_one[-1]} if on_one else {})
    provenance = {field: span for field, run in read.items() if (span := run.provenance.get(""))}
    return Scaling(
        unit=last.unit, case=last.case, gpus=last.gpus, nodes=last.nodes, inside=inside, across=across,
        smallest=first.gpus, overall=overall, provenance=provenance,
    )  # fmt: skip


def _share(large: Throughput, small: Throughput) -> float | None:
    """The speed per GPU of the large run divided by that of the small one.

    None for more than is possible: such runs are not comparable.
    """
    share = (large.per_second / large.gpus) / (small.per_second / small.gpus)
    return share if share < _IMPOSSIBLE else None


@derived
def loses_between_nodes(scaling: Scaling, view: View) -> bool | None:
    """Is more speed lost between nodes than is usual over their network?"""
    if scaling.across is None:
        return None
    return scaling.across < (LOW_RDMA if over_rdma(scaling, view) else LOW)


def over_rdma(scaling: Scaling, view: View) -> bool:
    """Do the ranks use RDMA, or does the table say so for these rows?"""
    return (
        any(rank.net not in (None, "Socket") for rank in view.job.ranks)
        or _RDMA.search(f"{scaling.unit} {scaling.case}") is not None
    )


def spread_text(scaling: Scaling, view: View) -> str:
    """The number of nodes as text: ``4 nodes``, ``several nodes``."""
    return "several nodes" if scaling.nodes is None else f"{scaling.nodes} nodes"


@derived
def across_text(scaling: Scaling, view: View) -> str:
    """The share of a node's speed that remains on several nodes: ``61%``."""
    return "an unknown share" if scaling.across is None else f"{scaling.across:.0%}"


@derived
def slowness_of_training(job: Job, view: View) -> str | None:
    """A sentence about a training that loses speed between nodes; empty without one, None without any training."""
    return next(slow_trainings(job, view), "" if job.throughputs else None)


def slow_trainings(job: Job, view: View) -> Iterator[str]:
    """A sentence for each training that loses speed between nodes, with the measurement."""
    for scaling in scalings(job, view):
        if loses_between_nodes(scaling, view):
            view.note(scaling)
            yield f"{spread_text(scaling, view)} keep {across_text(scaling, view)} of the speed"
