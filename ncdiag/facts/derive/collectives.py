"""What the job as a whole came to: start-up that never ends, ranks on different networks, codes without a reason."""

from __future__ import annotations

import signal

from ncdiag.facts.derive.failures import CODES
from ncdiag.facts.derive.presence import hosts_of, members
from ncdiag.facts.fold import fold_hosts, fold_ranks
from ncdiag.facts.model import FAILURES, Communicator, Event, Job, Rank
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
def has_info_lines(job: Job, view: View) -> bool:
    """Does the input hold lines of NCCL at level INFO?"""
    if any(e.level == "INFO" and e.origin in {"nccl", "rccl"} for e in job.events):
        return True
    return any(r.state or r.net or r.bootstrap_interface or r.transports or r.settings for r in job.ranks)


@derived
def is_stuck(communicator: Communicator, view: View) -> bool | None:
    """Did ranks begin to set up this communicator, wait for others, and not complete it?

    True where a failure was told, where a stack shows that somebody waits there, or where the files of several ranks
    end alike: others were not heard of, and none completed. None where one log may just have been cut off or lost
    lines. A warning of NCCL tells of a failure of its own.
    """
    started, ready = set(communicator.ranks_started), set(communicator.ranks_ready)
    if started <= ready or _went_on(view.job) or _warned(view.job):
        return False if started else None
    if view.job.timeouts or any(e.kind in {"cause", "symptom"} for e in view.job.events):
        return True
    if any(view.get(dump, "stands") == "set-up" for dump in view.job.stack_dumps):
        return True
    files = {span.source for r in members(communicator, view) if (span := r.provenance.get("")) is not None}
    alike = len(files) > 1 and not ready and len(started) != communicator.nranks
    return True if alike else None


def _warned(job: Job) -> bool:
    return any(e.level == "WARN" and e.kind != "harmless" for e in job.events)


def _is_complete(communicator: Communicator) -> bool:
    return set(communicator.ranks_started) <= set(communicator.ranks_ready)


def _went_on(job: Job) -> bool:
    """Did the job get through to results: a benchmark row, or a communicator that all its ranks completed?"""
    return any(b.rows for b in job.benchmarks) or any(c.ranks_ready and _is_complete(c) for c in job.communicators)


@derived
def progress(communicator: Communicator, view: View) -> str:
    """``ranks 0-3 of 8 on n1 began, 0-1 completed, 4-7 were not heard of``."""
    started, ready = set(communicator.ranks_started), set(communicator.ranks_ready)
    parts = [f"{_of(started, communicator, view)} began", f"{fold_ranks(ready) if ready else 'none'} completed"]
    if ready and started - ready:
        late = started - ready
        hosts = hosts_of(communicator, late, view)
        parts.append(f"{fold_ranks(late)}{f' on {fold_hosts(hosts)}' if hosts else ''} did not")
    if communicator.nranks is not None:
        missing = set(range(min(communicator.nranks, 1 << 17))) - started - ready
        parts += [f"{fold_ranks(missing)} were not heard of"] if missing else []
    return ", ".join(parts)


def _of(ranks: set[int], communicator: Communicator, view: View) -> str:
    total = f" of {communicator.nranks}" if communicator.nranks is not None else ""
    hosts = hosts_of(communicator, ranks, view)
    return f"ranks {fold_ranks(ranks)}{total}{f' on {fold_hosts(hosts)}' if hosts else ''}"


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
