"""Communicators: their ranks, and whether their set-up is stuck."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Communicator, Complaint, Job, Rank
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.stacks import stands

_SILENT = "run-silent"
"""The event of `ncdiag run` and `ncdiag watch` for a job that prints nothing any more."""


@derived
def ranks_by_communicator(job: Job, view: View) -> dict[str, tuple[Rank, ...]]:
    """The ranks of each communicator by its id, computed once for all communicators."""
    found: dict[str, list[Rank]] = defaultdict(list)
    for rank in job.ranks:
        if rank.communicator is not None:
            found[rank.communicator].append(rank)
    return {name: tuple(ranks) for name, ranks in found.items()}


def members(communicator: Communicator, view: View) -> tuple[Rank, ...]:
    """The ranks of a communicator that were seen."""
    found: tuple[Rank, ...] = ranks_by_communicator(view.job, view).get(communicator.id, ())
    return found


@derived
def is_stuck(communicator: Communicator, view: View) -> bool | None:
    """Did ranks begin to set up this communicator, wait for others, and not complete it?

    True if a failure was reported, if a person or ncdiag run says that it hangs, if a stack shows a process waiting in
    the set-up, or if the files of several ranks all end at the same step: other ranks are missing, and none completed.
    None where a single log may just have been cut off or have lost lines. An NCCL warning counts as a separate failure.
    """
    started, ready = set(communicator.ranks_started), set(communicator.ranks_ready)
    if started <= ready or _went_on(view.job) or _warned(view.job):
        return False if started else None
    if is_said_to_hang(view.job):
        return True
    if view.job.timeouts or any(e.kind in {"cause", "symptom"} for e in view.job.events):
        return True
    if any(stands(dump, view) == "set-up" for dump in view.job.stack_dumps):
        return True
    files = {span.source for r in members(communicator, view) if (span := r.provenance.get("")) is not None}
    alike = len(files) > 1 and not ready and len(started) != communicator.nranks
    return True if alike else None


def is_said_to_hang(job: Job, counts: Callable[[Complaint], bool] = lambda _: True) -> bool:
    """Does a person, in a complaint that counts, or `ncdiag run` or `watch`, say that the job hangs?"""
    said = any(complaint.what == "hangs" and counts(complaint) for complaint in job.complaints)
    return said or any(event.event == _SILENT for event in job.events)


def _warned(job: Job) -> bool:
    return any(e.level == "WARN" and e.kind != "harmless" for e in job.events)


def _is_complete(communicator: Communicator) -> bool:
    return set(communicator.ranks_started) <= set(communicator.ranks_ready)


def _went_on(job: Job) -> bool:
    """Did the job produce results: a benchmark row, or a communicator that all its ranks completed?"""
    return any(b.rows for b in job.benchmarks) or any(c.ranks_ready and _is_complete(c) for c in job.communicators)
