"""How the processes of a job ended, and which of them ended first."""

from __future__ import annotations

import signal
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived, derived_of
from ncdiag.facts.model import Event, Job
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.clocks import shared_time, source
from ncdiag.facts.vocabulary.failures import CRASHES, SHELL_STATUS, same_process
from ncdiag.facts.vocabulary.outcome import is_open_failure, open_failures
from ncdiag.facts.vocabulary.time_limits import LIMIT, hung_at_limit
from ncdiag.messages.vocabulary.exceptions import EXCEPTION, exception_text
from ncdiag.messages.vocabulary.first_ends import (
    earliest,
    first_crash_order,
    is_first_crash,
    is_plain_exit,
    threw_a_loss,
)

_EXIT_CODE = lazy_regex(r"Exit Code: +(\d{1,3})\b")
_FAILURES = frozenset({"cause", "symptom"})
_NO_MEMORY = "killed for lack of host memory"
_ENDS = {
    "worker-killed": "killed", "worker-crashed": "crashed", "worker-bus-error": "bus error",
    "segfault": "segmentation fault", "segfault-in-nccl": "segmentation fault in NCCL", "oom-kill": _NO_MEMORY,
    "container-oom-killed": _NO_MEMORY, "host-memory-exhausted": "the host's memory was used up",
    "cuda-illegal-access": "a kernel of the program failed", "cuda-launch-failure": "a CUDA kernel failed",
    "cuda-memory-error": "a memory fault of its GPU", "cuda-nvlink-error": "a transfer over NVLink that failed",
    "torch-dataloader-killed": "its data loader was killed",
    "torch-dataloader-bus-error": "bus error in its data loader", "node-failed": "Slurm lost it",
}  # fmt: skip
"""Phrases by event, for lines without a signal and an exit code."""


@derived_of("job-cancelled")
def ends_the_job(event: Event, view: View) -> bool | None:
    """Did the scheduler end the job before anything in it failed: by its time limit, for another job, or by its owner?

    None if something failed and it is not known whether that came before, as in the log of a rank without times. A job
    that hung until its time limit had failed before, whether or not a line says so. Slurm's accounting lists a job as
    preempted only if it was still running, so the place of that row in the input does not matter; if something failed
    by itself, the row is from another job.
    """
    if hung_at_limit(event, view):
        return False
    if _is_accounted_as_preempted(event):
        return not _has_own_fault(event, view)
    before: set[bool | None] = set()
    for place, first in first_failures(view.job, view).items():
        if place == source(event):
            before.add(first.order < event.order)
        else:
            at = shared_time(event, view)
            before.add(None if at is None or first.time is None else first.time < at)
            before.add(None if at is None or not first.has_times else False)
    return False if True in before else None if None in before else True


_PREEMPTED, _BY_STEPD = "PREEMPTION", "DUE TO"
_OWN_FAULTS = (*CRASHES, "process-exit", "oom-kill", "container-oom-killed")


def _is_accounted_as_preempted(event: Event) -> bool:
    """Is the line a preemption reported by ``sacct`` or ``scontrol``, not one that was printed when the job ended?"""
    return event.fields.get("reason") == _PREEMPTED and _BY_STEPD not in event.text


def _has_own_fault(event: Event, view: View) -> bool:
    """Did a process crash or exit by itself, or did something else fail that is a cause?

    Rows about the steps of the preempted job (``5512.0``) do not count: they only show how the preemption ended them.
    """
    steps = f"{event.fields.get('step')}."
    failed = (other for other in open_failures(view.job, view) if not other.text.strip().startswith(steps))
    return any(other.event in _OWN_FAULTS or other.kind == "cause" for other in failed if other.event != event.event)


class First(NamedTuple):
    """The first failure of a source: its line, and the least known time; ``has_times``: each failure has one."""

    order: int
    time: float | None
    has_times: bool


@derived
def first_failures(job: Job, view: View) -> Mapping[str, First]:
    """The first failure of each source, other than those after which the job went on."""
    failures: dict[str, list[Event]] = defaultdict(list)
    for event in job.events:
        if event.kind in _FAILURES and is_open_failure(event, view):
            failures[source(event)].append(event)
    found = {}
    for place, events in failures.items():
        times = [shared_time(event, view) for event in events]
        known = [time for time in times if time is not None]
        found[place] = First(min(e.order for e in events), min(known, default=None), len(known) == len(times))
    return found


@derived
def end_of_job(event: Event, view: View) -> str:
    """What ended the job, ``the time limit of job 812``, as far as the line says it."""
    fields = event.fields
    name = f"{str(fields.get('what', 'job')).lower()} {fields.get('step', '')}".strip()
    reasons = {LIMIT: f"{name} reached its time limit", _PREEMPTED: f"{name} made room for another job"}
    said = f"{fields.get('reason', '')} {event.text}"
    told = next((words for reason, words in reasons.items() if reason in said), None)
    return told or f"{name} was cancelled or put back into the queue"


@derived
def way_it_ended(event: Event, view: View) -> str:
    """The signal that ended the process, ``signal 11, SIGSEGV``; else its exit code, else the event in words."""
    number, code = status(same_process(event, view))
    if code is not None:
        return f"exit code {code}" + (f": {_signal(number)}" if number else "")
    if number is not None:
        return _signal(number)
    return exception_text(event) if "exception" in event.fields else _ENDS.get(event.event, event.event)


def status(events: Iterable[Event]) -> tuple[int | None, int | None]:
    """(signal, exit code) of the process that these events are about; None for what no line shows.

    An exit code above 128 is given together with its signal. A negative one, as Python reports it, is a signal alone.
    """
    held = list(events)
    for event in held:
        number = event.fields.get("signal")
        if isinstance(number, int):
            return number, None
    for event in held:
        printed = _EXIT_CODE.search(event.text)
        code = event.fields.get("exit_code", int(printed[1]) if printed else None)
        if isinstance(code, int) and code:
            return (-code, None) if code < 0 else (code - SHELL_STATUS if code > SHELL_STATUS else None, code)
    return None, None


def _signal(number: int) -> str:
    name = signal_name(number)
    return f"signal {number}, {name}" if name else f"signal {number}"


def signal_name(number: int) -> str:
    """``SIGSEGV``; empty for a number that is not a signal of this system."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return ""


_LOSS = (
    "socket-closed-by-peer", "gloo-peer-gone", "mpi-tcp-peer-gone",
    "coordination-tasks-lost", "coordination-leader-lost",
)  # fmt: skip


@derived
def ends_in_a_wait(job: Job, view: View) -> bool:
    """Did all processes whose ends are shown wait for another one before, or end because another one did?"""
    return first_crash_order(job, view) is None and any(is_plain_exit(e) for e in job.events if e.event in CRASHES)


@derived
def ended_by_a_loss(job: Job, view: View) -> bool:
    """Did a process abort by an exception that says that a transfer failed, or that a peer is gone?"""
    return any(True for _ in threw_a_loss(job))


@derived
def first_loss_order(job: Job, view: View) -> int | None:
    """The position of the first closed connection, if closed connections are all that is shown of the job's end."""
    if first_crash_order(job, view) is not None or any(
        e.kind in _FAILURES for e in job.events if e.event not in CRASHES
    ):
        return None
    losses = [event for event in job.events if event.event in _LOSS]
    return earliest(losses).order if losses else None


@derived_of(*CRASHES, EXCEPTION, *_LOSS)
def is_first_end(event: Event, view: View) -> bool:
    """Did the first process end here, or is this the first report of its loss if nothing says more?"""
    if event.event in _LOSS:
        return bool(event.order == first_loss_order(view.job, view))
    return bool(is_first_crash(event, view))
