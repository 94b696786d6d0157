"""What follows from the rates that people tell: how much of its network a job, or a test without NCCL, reached."""

from __future__ import annotations

from collections.abc import Collection

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Job
from ncdiag.facts.view import View


@derived
def told_fraction_of_network(job: Job, view: View) -> float | None:
    """What NCCL, or the job, is said to reach, as a share of what the network of a host is said to carry."""
    reached = told(job, view, {"nccl"}) or told(job, view, {"job"})
    return ratio(reached, told(job, view, {"link", "expected"}))


@derived
def told_fraction_of_link(job: Job, view: View) -> float | None:
    """What a test without NCCL is said to reach, as a share of what a link carries."""
    links = [rate.gbps for rate in job.told_rates if rate.of in {"link", "expected"}]
    return ratio(told(job, view, {"rdma-test", "tcp"}), max(links, default=None))


def told(job: Job, view: View, kinds: Collection[str]) -> float | None:
    """The largest rate of these kinds, all links together; in Gbit/s."""
    found = [rate for rate in job.told_rates if rate.of in kinds]
    for rate in found:
        view.note(rate)
    return max((rate.gbps * rate.count for rate in found), default=None)


def ratio(part: float | None, whole: float | None) -> float | None:
    """The share of the whole; None where one of the two is not told."""
    return part / whole if part is not None and whole else None
