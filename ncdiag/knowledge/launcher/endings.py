"""How the processes of a job ended, and which of them ended first."""

from __future__ import annotations

import itertools
import signal
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived, derived_of
from ncdiag.facts.model import FAILURES, Event, Job
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.clocks import shared_time, source
from ncdiag.facts.vocabulary.failures import CRASHES, SHELL_STATUS, same_process
from ncdiag.facts.vocabulary.outcome import is_elsewhere
from ncdiag.knowledge.launcher.exceptions import EXCEPTION, exception_text, is_mistake, is_own_exception, is_pythons
from ncdiag.messages import about

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

    None if something failed and it is not known whether that came before, as in the log of a rank without times.
    """
    before: set[bool | None] = set()
    for place, first in first_failures(view.job, view).items():
        if place == source(event):
            before.add(first.order < event.order)
        else:
            at = shared_time(event, view)
            before.add(None if at is None or first.time is None else first.time < at)
            before.add(None if at is None or not first.has_times else False)
    return False if True in before else None if None in before else True


class First(NamedTuple):
    """The first failure of a source: its line, and the least known time; ``has_times``: each failure has one."""

    order: int
    time: float | None
    has_times: bool


@derived
def first_failures(job: Job, view: View) -> Mapping[str, First]:
    """The first failure of each source."""
    failures: dict[str, list[Event]] = defaultdict(list)
    for event in job.events:
        if event.kind in _FAILURES:
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
    reasons = {"TIME LIMIT": f"{name} reached its time limit", "PREEMPTION": f"{name} made room for another job"}
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


_WATCHDOG = frozenset({"torch-watchdog-timeout", "torch-heartbeat-stuck", "torch-tear-down"})
_LOSSES = frozenset({
    "socket-closed-by-peer", "ib-completion-error", "torch-result-remote-error", "torch-store-timeout",
    "torch-unique-id-missing", "c10d-connect-timeout", "c10d-connect-failed", "coordination-start-timeout",
    "coordination-tasks-lost", "coordination-leader-lost",
})  # fmt: skip
_LOSS_CATEGORIES = frozenset({"collective", "watchdog", "tcp-transfer"})
"""Events, and categories of events, that ranks report when another rank is lost or missing."""
_OWN_MISTAKES = frozenset({"torch-collective-mismatch", "collective-mismatch", "hccl-params-mismatch", "no-algorithm"})
"""Events of these categories that are mistakes of the ranks themselves."""
_ABORTED = frozenset({-signal.SIGABRT, 128 + signal.SIGABRT})
"""Exit codes for a process that SIGABRT ended, by Python's and by a shell's convention."""
_THROWN = "terminate called after throwing"
"""How the C++ runtime begins a line about an exception that nobody caught, before it aborts the process."""
_ENDS_TOLD = CRASHES | {"run-ended"}
_LOSS = (
    "socket-closed-by-peer", "gloo-peer-gone", "mpi-tcp-peer-gone",
    "coordination-tasks-lost", "coordination-leader-lost",
)  # fmt: skip


@derived
def first_crash_order(job: Job, view: View) -> int | None:
    """The position in the input of the first event in which a process ended.

    By time where all such lines have one, corrected for the clocks of the hosts where possible.
    """
    raised = list(_raised(job, view))
    crashes = [*_own_crashes(job, view), *raised]
    if not crashes:
        return None
    if all(e.time is not None for e in crashes):
        return min(crashes, key=lambda e: (shared_time(e, view), e.order)).order
    first = _first(crashes)
    rank = _rank(first, _ranks(crashes))
    # torchrun reports the exit first, and its cause in a summary below
    return next((e for e in raised if rank is not None and e.rank == rank), first).order


@derived
def ends_in_a_wait(job: Job, view: View) -> bool:
    """Did all processes whose ends are shown wait for another one before, or end because another one did?"""
    return first_crash_order(job, view) is None and any(_is_plain_exit(e) for e in job.events if e.event in CRASHES)


def _own_crashes(job: Job, view: View) -> list[Event]:
    """The ends of processes, except those that a watchdog, torchrun or a time limit caused after another failure."""
    given_up = any(e.event in _WATCHDOG for e in job.events)
    crashes = [
        e for e in job.events
        if e.event in CRASHES and not (given_up and _is_abort(e)) and not is_elsewhere(e, view)
    ]  # fmt: skip
    summed_up = {e.host for e in crashes if e.fields.get("first") == 1}
    mourners = {e.rank for e in job.events if e.rank is not None and _is_loss_of_another(e)} if crashes else set()
    mourners -= {e.rank for e in job.events if mourners and is_own_exception(e, view)}
    ranks = _ranks(crashes)
    threw = set(_threw_a_loss(job)) if crashes else set()
    return [
        e for e in crashes
        if not (e.fields.get("first") == 0 and e.host in summed_up)
        and not (_is_plain_exit(e) and _rank(e, ranks) in mourners)
        and not (_is_abort(e) and _rank(e, ranks) in threw)
    ]  # fmt: skip


@derived
def ended_by_a_loss(job: Job, view: View) -> bool:
    """Did a process abort by an exception that says that a transfer failed, or that a peer is gone?"""
    return any(True for _ in _threw_a_loss(job))


def _threw_a_loss(job: Job) -> Iterator[int | None]:
    """The ranks of processes that aborted by an exception whose text is the loss of a transfer or a peer."""
    for thrown, said in itertools.pairwise(sorted(job.events, key=lambda e: e.order)):
        is_next = said.rank == thrown.rank and said.order == thrown.order + 1
        if is_next and said.event in _LOSSES and thrown.event == "worker-ended" and thrown.text.startswith(_THROWN):
            yield thrown.rank


def _is_plain_exit(event: Event) -> bool:
    """Did the process end by itself with an error exit code, and not by a signal, which no timed-out wait causes?"""
    code = event.fields.get("exit_code")
    return isinstance(code, int) and 0 < code < SHELL_STATUS


def _ranks(events: Iterable[Event]) -> dict[tuple[str | None, int], int]:
    """The ranks of processes, by host and process id, where one of the lines shows it."""
    return {(e.host, e.pid): e.rank for e in events if e.pid is not None and e.rank is not None}


def _rank(event: Event, ranks: dict[tuple[str | None, int], int]) -> int | None:
    """The rank of the process, as far as a line about it shows it."""
    if event.rank is not None or event.pid is None:
        return event.rank
    return ranks.get((event.host, event.pid), ranks.get((None, event.pid)))


def _first_by_source(events: Iterable[Event]) -> dict[str, Event]:
    """The first of the events in each source."""
    found: dict[str, Event] = {}
    for event in sorted(events, key=lambda event: event.order):
        found.setdefault(source(event), event)
    return found


def _first(events: Iterable[Event]) -> Event:
    """The first of the events where times do not decide.

    Of several sources, the event with the most process details.
    """
    firsts = _first_by_source(events).values()
    return min(firsts, key=lambda e: (e.rank is None, e.pid is None, e.host is None, e.event, e.text))


def _raised(job: Job, view: View) -> Iterator[Event]:
    """Exceptions of ranks' own work before the first line in which another rank reports a loss.

    Those that only Python raises count after it, too, for a rank that reports no loss, since lines of ranks are often
    mixed, and so do others if every other rank reports one. Where no line reports a loss, they count if a process ended
    with an error exit code.
    """
    told = [event for event in job.events if _is_loss(event)]
    losses = _first_by_source(told)
    mourners = {event.rank for event in told if event.rank is not None}
    counts = told or any(event.event in _ENDS_TOLD and _is_plain_exit(event) for event in job.events)
    for event in job.events if counts else ():
        if event.event != EXCEPTION or event.rank in mourners or not is_own_exception(event, view):
            continue
        first = losses.get(source(event))
        is_mixed_in = event.rank is not None and (is_pythons(event) or _is_only_absent(event.rank, mourners))
        if first is None or event.order < first.order or is_mixed_in:
            yield event


def _is_only_absent(rank: int, mourners: set[int]) -> bool:
    """Do all ranks but this one, of those that are known to exist, report a loss?"""
    return len(mourners) > 1 and set(range(max(*mourners, rank) + 1)) - mourners == {rank}


@derived
def tells_of_a_loss(job: Job, view: View) -> bool:
    """Does a rank report that another one is lost or missing?"""
    return any(_is_loss(event) for event in job.events)


def _is_loss(event: Event) -> bool:
    """Does the event report that another rank is lost or missing?"""
    if event.kind not in FAILURES or event.event in _OWN_MISTAKES:
        return False
    return event.event in _LOSSES or about.entry(event.event).category in _LOSS_CATEGORIES


def _is_loss_of_another(event: Event) -> bool:
    """Does the event report the loss or absence of a peer? A connection attempt may fail and be repeated."""
    return _is_loss(event) and about.entry(event.event).category in _LOSS_CATEGORIES


def _is_abort(event: Event) -> bool:
    """Did a process end by SIGABRT, as processes that their watchdog aborts do?"""
    fields = event.fields
    return fields.get("signal") == signal.SIGABRT or fields.get("exit_code") in _ABORTED or "Aborted" in event.text


@derived_of(*CRASHES, EXCEPTION)
def is_first_crash(event: Event, view: View) -> bool:
    """Did the first process of the job that ended end here?"""
    first = first_crash_order(view.job, view)
    return event.order == first


@derived
def mistakes(job: Job, view: View) -> tuple[Event, ...]:
    """The exceptions of the program's own code that ended it, not those that came after the loss of a peer."""
    told = tells_of_a_loss(job, view)
    return tuple(
        event for event in job.events
        if is_mistake(event) and is_own_exception(event, view) and (not told or is_first_crash(event, view))
    )  # fmt: skip


@derived
def first_loss_order(job: Job, view: View) -> int | None:
    """The position of the first closed connection, if closed connections are all that is shown of the job's end."""
    if first_crash_order(job, view) is not None or any(
        e.kind in _FAILURES for e in job.events if e.event not in CRASHES
    ):
        return None
    losses = [event for event in job.events if event.event in _LOSS]
    return _first(losses).order if losses else None


@derived_of(*CRASHES, EXCEPTION, *_LOSS)
def is_first_end(event: Event, view: View) -> bool:
    """Did the first process end here, or is this the first report of its loss if nothing says more?"""
    if event.event in _LOSS:
        return bool(event.order == first_loss_order(view.job, view))
    return bool(is_first_crash(event, view))
