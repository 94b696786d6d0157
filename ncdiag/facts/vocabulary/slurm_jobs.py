"""Which rows of ``squeue`` and ``sacct`` are about the job that Slurm refused: others run whatever happens to it."""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Event, Job
from ncdiag.facts.view import View

WAITS, RUNS = "slurm-job-waits", "slurm-job-runs"
_QUEUED, _COMPLETED, _ALLOCATED = "slurm-job-queued", "slurm-job-completed", "slurm-job-allocated"
ROWS = (RUNS, _COMPLETED, _ALLOCATED)
"""What shows that a job has nodes, or had them."""
_LIMIT = lazy_regex(r"(?:QOS|Assoc)\w*(?:Max|Grp)")
"""Reasons of a job whose user, account or QOS has as much in use as it may."""


def jobs_of(event: Event) -> frozenset[str]:
    """The numbers of the jobs that a line is about, without the step or the task of an array."""
    return frozenset(each.partition(".")[0].partition("_")[0] for each in str(event.fields.get("step") or "").split())


@derived
def refused_jobs(job: Job, view: View) -> frozenset[str]:
    """The jobs that wait, as far as the input gives their numbers."""
    del view
    return frozenset(number for event in job.events if event.event in {WAITS, _QUEUED} for number in jobs_of(event))


@derived
def rows_of_the_job(job: Job, view: View) -> tuple[Event, ...]:
    """The rows that are the job's: those of its number; any if nothing waits; none if it waits without a number."""
    rows = tuple(event for event in job.events if event.event in ROWS)
    refused = refused_jobs(job, view)
    if refused:
        return tuple(row for row in rows if refused & jobs_of(row))
    waits = WAITS in view.event_names() or any(complaint.what == "cannot-start" for complaint in job.complaints)
    return () if waits else rows


def has_got_nodes(waiting: Event, row: Event, view: View) -> bool:
    """Is the row of the job that waits, and newer, or does a limit keep it that another job of its user uses up?"""
    jobs = jobs_of(waiting) or _queued_beside(waiting, view)
    if jobs & jobs_of(row):
        return row.event == _COMPLETED or row.order > waiting.order
    user, why = waiting.fields.get("user"), str(waiting.fields.get("refused_why") or "")
    return row.event == RUNS and user is not None and user == row.fields.get("user") and _LIMIT.match(why) is not None


def _queued_beside(waiting: Event, view: View) -> frozenset[str]:
    """The job of the line of srun that is nearest to one without a number."""
    queued = view.events_on(None, (_QUEUED,))
    return jobs_of(min(queued, key=lambda event: abs(event.order - waiting.order))) if queued else frozenset()
