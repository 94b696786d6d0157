"""Which process of a job ended first, and whether its end was its own: the others report that it is gone."""

from __future__ import annotations

import itertools
import signal
from collections.abc import Iterable, Iterator

from ncdiag.facts.derived import derived, derived_of
from ncdiag.facts.model import FAILURES, Event, Job
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.clocks import shared_time, source
from ncdiag.facts.vocabulary.failures import CRASHES, SHELL_STATUS
from ncdiag.facts.vocabulary.outcome import is_elsewhere
from ncdiag.messages import about
from ncdiag.messages.vocabulary.exceptions import EXCEPTION, is_mistake, is_of_a_loss, is_own_exception, is_pythons

_WATCHDOG = frozenset({"torch-watchdog-timeout", "torch-heartbeat-stuck", "torch-tear-down"})
_LOSSES = frozenset({
    "socket-closed-by-peer", "ib-completion-error", "torch-result-remote-error", "torch-store-timeout",
    "torch-unique-id-missing", "c10d-connect-timeout", "c10d-connect-failed", "coordination-start-timeout",
    "coordination-tasks-lost", "coordination-leader-lost",
})  # fmt: skip
_LOSS_CATEGORIES = frozenset({"collective", "watchdog", "tcp-transfer"})
"""Events, and categories of events, that ranks report when another rank is lost or missing."""
_OF_CALLS = frozenset({
    "bootstrap", "collective", "completion", "cuda-call", "cuda-memory", "cuda-start", "handshake", "internal",
    "libfabric", "memory", "misuse", "npu", "nvls", "nvml", "p2p-map", "proxy", "registration", "rendezvous",
    "shm-attach", "shm-create", "storage", "storage-lost", "system-call", "tcp-connect", "tcp-listen", "tcp-setup",
    "tcp-transfer", "verbs-call", "version", "watchdog",
})  # fmt: skip
"""Categories of failures after which a process gives up, other than those of links, plugins and hardware."""
_RESULTS = "result-code"
_OWN_MISTAKES = frozenset({"torch-collective-mismatch", "collective-mismatch", "hccl-params-mismatch", "no-algorithm"})
"""Events of these categories that are mistakes of the ranks themselves."""
_ABORTED = frozenset({-signal.SIGABRT, 128 + signal.SIGABRT})
"""Exit codes for a process that SIGABRT ended, by Python's and by a shell's convention."""
_THROWN = "terminate called after throwing"
"""How the C++ runtime begins a line about an exception that nobody caught, before it aborts the process."""
_ENDS_TOLD = CRASHES | {"run-ended"}


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
    first = earliest(crashes)
    rank = _rank(first, _ranks(crashes))
    # torchrun reports the exit first, and its cause in a summary below
    return next((e for e in raised if rank is not None and e.rank == rank), first).order


def _own_crashes(job: Job, view: View) -> list[Event]:
    """The ends of processes, except those that a watchdog, torchrun or a time limit caused after another failure.

    An exit code such as 1 says only that the process gave up: a failure above it that names no rank may be its reason.
    """
    given_up = any(e.event in _WATCHDOG for e in job.events)
    crashes = [
        e for e in job.events
        if e.event in CRASHES and not (given_up and _is_abort(e)) and not is_elsewhere(e, view)
    ]  # fmt: skip
    summed_up = {e.host for e in crashes if e.fields.get("first") == 1}
    mourners = {e.rank for e in job.events if e.rank is not None and _is_loss_of_another(e)} if crashes else set()
    mourners -= {e.rank for e in job.events if mourners and is_own_exception(e, view)}
    ranks = _ranks(crashes)
    threw = set(threw_a_loss(job)) if crashes else set()
    failed = min((e.order for e in job.events if crashes and _may_be_of_any_rank(e)), default=None)
    return [
        e for e in crashes
        if not (e.fields.get("first") == 0 and e.host in summed_up)
        and not (is_plain_exit(e) and (_rank(e, ranks) in mourners or (failed is not None and failed < e.order)))
        and not (_is_abort(e) and _rank(e, ranks) in threw)
    ]  # fmt: skip


def _may_be_of_any_rank(event: Event) -> bool:
    """Does a line that names no rank report a failed call? It may be the reason for which a process ended."""
    if event.rank is not None or event.kind not in {"cause", "symptom"} or event.event in CRASHES:
        return False
    return about.entry(event.event).category in _OF_CALLS


def threw_a_loss(job: Job) -> Iterator[int | None]:
    """The ranks of processes that aborted by an exception whose text is the loss of a transfer or a peer."""
    for thrown, said in itertools.pairwise(sorted(job.events, key=lambda e: e.order)):
        is_next = said.rank == thrown.rank and said.order == thrown.order + 1
        if is_next and said.event in _LOSSES and thrown.event == "worker-ended" and thrown.text.startswith(_THROWN):
            yield thrown.rank


def is_plain_exit(event: Event) -> bool:
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


def earliest(events: Iterable[Event]) -> Event:
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
    counts = told or any(event.event in _ENDS_TOLD and is_plain_exit(event) for event in job.events)
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


def _is_failed_call(event: Event) -> bool:
    """Does the event say that a call of NCCL, or of a library on top of it, failed?"""
    failed = event.kind in FAILURES and about.entry(event.event).category == _RESULTS
    return failed or is_of_a_loss(event)


@derived
def mistakes(job: Job, view: View) -> tuple[Event, ...]:
    """The exceptions of the program's own code that ended it, not those that came after the loss of a peer."""
    found = [event for event in job.events if is_mistake(event) and is_own_exception(event, view)]
    if not found:
        return ()
    told = tells_of_a_loss(job, view)
    raised = [event for event in job.events if _is_failed_call(event)]
    losses = _first_by_source(raised)
    mourners = {event.rank for event in raised if event.rank is not None}

    def is_behind_a_loss(event: Event) -> bool:
        first = losses.get(source(event))
        is_mixed_in = event.rank is not None and mourners and event.rank not in mourners
        return first is not None and first.order < event.order and not is_mixed_in

    return tuple(event for event in found if not is_behind_a_loss(event) and (not told or is_first_crash(event, view)))
