"""Lines of a kernel log that are older than the job, or the moment, that ncdiag itself examines.

A kernel log reaches back to the start of the machine. Without the log of a job, only the start of the processes that
run now, or the time of the examination, tells whether an end of a process in it can matter.
"""

from __future__ import annotations

from datetime import datetime, timezone

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Event, Job
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.failures import CRASHES

EXAMINED = "job-examined"
_OF_A_PROCESS = frozenset({*CRASHES, "oom-kill-echo", "cgroup-memory-full"})
"""Lines about a single process. Faults of hardware are not among them: they outlive the jobs that met them."""
_RECENT = 86400.0
"""Seconds before an examination in which the end of a process may be what somebody now looks for: one night."""


@derived
def is_outdated(event: Event, view: View) -> bool:
    """Did the kernel report this about a process before the examined job began, or over a day before `check` ran?"""
    if event.origin != "kernel" or event.time is None or event.event not in _OF_A_PROCESS:
        return False
    began = job_starts(view.job, view)
    if began:
        start = began.get(event.host, min(began.values()) if event.host is None else None)
        return start is not None and event.time < start
    host = view.host(event.host)
    if host is None or host.examined_at is None or view.job.ranks or view.job.complaints:
        return False
    return event.time < host.examined_at - _RECENT


@derived
def job_starts(job: Job, view: View) -> dict[str | None, float]:
    """When the oldest process of an examined job started on each host, in seconds since 1970."""
    found: dict[str | None, float] = {}
    for event in view.events_named(EXAMINED):
        try:
            moment = datetime.fromisoformat(str(event.fields.get("started", "")).removesuffix("Z"))
        except ValueError:
            continue
        start = moment.replace(tzinfo=timezone.utc).timestamp()
        found[event.host] = min(start, found.get(event.host, start))
    return found
