"""Ranks with a kernel that does not end, and those without one, as a monitor of kernels reports them."""

from __future__ import annotations

from ncdiag.facts.derived import derived
from ncdiag.facts.fold import fold_hosts, fold_ranks
from ncdiag.facts.model import Job
from ncdiag.facts.view import View


@derived
def overdue_ranks(job: Job, view: View) -> str:
    """The ranks with an overdue kernel, ``0,2,5``; empty for none."""
    return _ranks(job, view, overdue=True)


@derived
def ranks_not_overdue(job: Job, view: View) -> str:
    """The ranks without an overdue kernel beside others that have one, ``1,3-4,6-7``; empty for none."""
    return _ranks(job, view, overdue=False)


@derived
def hosts_not_overdue(job: Job, view: View) -> str:
    """The hosts of these ranks, by the pod or the address that the monitor names, ``w-[0-1]``; else ``all hosts``."""
    names = {watch.on_host for watch in job.kernel_watches if not watch.overdue and watch.on_host}
    return fold_hosts(names) or "all hosts"


def _ranks(job: Job, view: View, *, overdue: bool) -> str:
    found = [watch for watch in job.kernel_watches if watch.overdue is overdue]
    for watch in found:
        view.note(watch, "overdue")
    return fold_ranks(sorted({watch.rank for watch in found})) if found else ""
