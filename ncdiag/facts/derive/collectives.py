"""What the job as a whole came to: start-up that never ends, ranks on different networks, codes without a reason."""

from __future__ import annotations

import signal

from ncdiag.facts.derive.failures import CODES
from ncdiag.facts.model import FAILURES, Event, Job, Rank
from ncdiag.facts.view import View, derived

_BESIDE_CODES = CODES | {
    "python-exception", "worker-failed", "nccl-tests-failed", "mpi-exit-code", "torch-work-failed",
    "torch-watchdog-terminated",
}  # fmt: skip
"""Events that say no more than a return code does."""


@derived
def tells_no_reason(job: Job, view: View) -> bool:
    """Does no message of the input say more about a failure than a return code does?"""
    if any(e.event == "socket-closed-by-peer" for e in job.events):
        return False  # no reason either, but it tells whose log holds it
    failures = (e for e in job.events if e.kind in {"cause", "symptom"})
    return all((e.event in _BESIDE_CODES and not _was_killed(e)) or view.get(e, "is_vague") for e in failures)


def _was_killed(event: Event) -> bool:
    """Did another signal than its own SIGABRT end the process?"""
    code, number = event.fields.get("exit_code"), event.fields.get("signal")
    by_code = isinstance(code, int) and code != -signal.SIGABRT and code < 0
    return by_code or number not in {None, int(signal.SIGABRT)}


@derived
def stalled_at_start(job: Job, view: View) -> bool:
    """Did the first collective run into a watchdog's limit?"""
    for timeout in job.timeouts:
        first = timeout.sequence == 1 or (timeout.last_completed is not None and timeout.last_completed < 1)
        if first and view.get(timeout, "is_timeout"):
            view.note(timeout)
            return True
    return False


@derived
def uses_p2p(rank: Rank, view: View) -> bool | None:
    """Does the rank reach another GPU of its host directly?"""
    return None if rank.transports is None else any(name.startswith("P2P/") for name in rank.transports)


_WORDED = "failure-words"
"""What speaks of a failure in its words alone is a fact until nothing else tells of one (`ncdiag.parsers._failing`)."""


@derived
def is_out_of_files(event: Event, view: View) -> bool:
    """Does a program say that it may open no more files (EMFILE)?"""
    if event.kind not in FAILURES and event.event != _WORDED:
        return False  # of a hundred thousand lines that tell facts, the reason is not worked out
    return event.event == "too-many-files" or view.get(event, "reason") == "too-many-files"
