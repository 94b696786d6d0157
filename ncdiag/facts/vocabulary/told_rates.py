"""The share of the network bandwidth that a job, or a test without NCCL, reached, from rates that people mention."""

from __future__ import annotations

from collections.abc import Collection

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Job
from ncdiag.facts.view import View


@derived
def told_fraction_of_network(job: Job, view: View) -> float | None:
    """The rate that NCCL, or the job, reached by people's words, divided by the rate of the host's network."""
    return ratio(_of_job(job, view), told_rate(job, view, {"link", "expected"}))


@derived
def told_fraction_of_link(job: Job, view: View) -> float | None:
    """The rate that a test without NCCL reached by people's words, divided by the rate of a link."""
    links = [rate.gbps for rate in job.told_rates if rate.of in {"link", "expected"}]
    return ratio(told_rate(job, view, {"rdma-test", "tcp"}), max(links, default=None))


def _of_job(job: Job, view: View) -> float | None:
    """The rate of NCCL in Gbit/s, else that of the job."""
    return told_rate(job, view, {"nccl"}) or told_rate(job, view, {"job"})


def told_rate(job: Job, view: View, kinds: Collection[str]) -> float | None:
    """The largest rate of these kinds in Gbit/s, over all links together; None without one."""
    found = [rate for rate in job.told_rates if rate.of in kinds]
    for rate in found:
        view.note(rate)
    return max((rate.gbps * rate.count for rate in found), default=None)


def ratio(part: float | None, whole: float | None) -> float | None:
    """The quotient of the two; None where one of them is not known."""
    return part / whole if part is not None and whole else None


@derived
def told_fraction_of_test(job: Job, view: View) -> float | None:
    """The rate of NCCL, or of the job, divided by that of a test of one link without it, by people's words."""
    return ratio(_of_job(job, view), told_rate(job, view, {"rdma-test", "tcp"}))
