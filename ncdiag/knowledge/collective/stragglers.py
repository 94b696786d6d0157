"""Which ranks did not enter a collective, and which entered another one, by comparing their output."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Span
from ncdiag.facts.derived import derived, derived_of
from ncdiag.facts.fold import fold_ranks
from ncdiag.facts.model import SET_UP, Difference, Event, FlightRecord, Job, Timeout
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.barriers import OF_KERNELS, barrier_waits
from ncdiag.facts.vocabulary.failures import tasks_text
from ncdiag.facts.vocabulary.outcome import went_on
from ncdiag.facts.vocabulary.probes import lines_of
from ncdiag.knowledge.collective import dumps
from ncdiag.knowledge.collective.calls import call_mismatches, call_waits, calls_apart, stack_splits, stack_waits
from ncdiag.knowledge.collective.given_up import EQUAL_SIZES, UNNAMED, by_collective
from ncdiag.knowledge.collective.traced import traced_waits
from ncdiag.nccl.vocabulary.relations.lengths import long_works


@derived
def waited_for(timeout: Timeout, view: View) -> str:
    """The collective that timed out, ``ALLREDUCE number 812``, as far as it is known."""
    if timeout.operation is None:
        return "a collective"
    return f"{timeout.operation} number {timeout.sequence}" if timeout.sequence is not None else timeout.operation


@derived
def look_at(timeout: Timeout, view: View) -> str:
    """The rank whose log describes the collective that this rank was only notified of: ``rank 7``, as far as known."""
    known = timeout.signalled_by
    return f"rank {known}" if known is not None else "the rank whose watchdog gave up"


DESYNC = (
    "collective-mismatch", "collective-mismatch-suspected", "torch-collective-mismatch", "torch-ddp-shape-mismatch",
    "message-truncated", "bootstrap-message-truncated", "gather-shapes-differ",
)  # fmt: skip
"""Events that report ranks in different collectives."""
_MISSING = frozenset({"torch-ranks-missing", "torch-barrier-missed", "horovod-ranks-missing"})
_TASKS_MISSING = "coordination-barrier-timeout"
_BARRIER_NAME = "a monitored barrier"
_BARRIER = frozenset({"torch-barrier-timeout", "torch-barrier-present"})
_NAMELESS = {"torch-uneven-inputs": "A rank that ran out of data", "horovod-stalled": "A rank that is not named"}
"""Phrases for who is missing, by events that give no number."""
_MOST_RANKS = 1 << 17
_WORK = "work"
"""The group of a wait that holds the work of the missing rank."""
_ON_SOME = {
    "some-ranks": "is called under a condition on the rank",
    "new-group": "is called only by the ranks of the new group",
}
"""What keeps a call of a program from some ranks, by the kind of its fault."""
_FEW = 4
"""More than one missing rank in this number is a regular pattern."""
_NUMBER = lazy_regex(r"\d{1,7}")


@derived
def collective_events(job: Job, view: View) -> tuple[Event, ...]:
    """Reports of programs about ranks in different collectives or waiting, and results of comparing their records."""
    told = [e for e in job.events if e.event in DESYNC or e.event == "torch-watchdog-timeout"]
    return (*told, *_compared_timeouts(job), *_compared_records(view), *call_mismatches(job))


@derived_of(*DESYNC)
def is_desync(event: Event, view: View) -> bool:
    """Are ranks in different collectives?

    During the rendezvous (NCCL src/bootstrap.cc, bootstrapNetRecv) a message that is a multiple of the expected one has
    other numbers of the same records, as of another call; any other size is a record of another layout or a stranger.
    """
    if event.event == "bootstrap-message-truncated":
        sizes = sorted(int(event.fields.get(name) or 0) for name in ("received", "expected"))
        if not sizes[0] or sizes[1] % sizes[0]:
            return False
    for span in event.provenance:
        view.note(event, span)
    return True


def _compared_timeouts(job: Job) -> Iterator[Event]:
    """Ranks that waited in collectives with the same number that are not the same collective.

    Where no line names a group, only different operations count: groups at the same number differ in their sizes.
    """
    for (group, sequence), waiting in by_collective(job.timeouts).items():
        operations: dict[str, list[Timeout]] = defaultdict(list)
        for timeout in waiting:
            operations[timeout.operation or ""].append(timeout)
        if len(operations) > 1:
            yield _desync(sequence, {name: _ranks(found) for name, found in operations.items()}, waiting)
        if len(operations) > 1 or group == UNNAMED:
            continue
        sizes: dict[str, list[Timeout]] = defaultdict(list)
        for timeout in waiting:
            if timeout.operation in EQUAL_SIZES and timeout.numel_in is not None:
                sizes[f"{timeout.operation} of {timeout.numel_in} elements"].append(timeout)
        if len(sizes) > 1:
            yield _desync(sequence, {name: _ranks(found) for name, found in sizes.items()}, waiting)


def _ranks(timeouts: Iterable[Timeout]) -> str:
    numbers = [t.rank for t in timeouts if t.rank is not None]
    return _named(numbers) if numbers else "some ranks"


def _desync(sequence: int, groups: dict[str, str], sources: Iterable[Timeout | FlightRecord]) -> Event:
    parts = ", ".join(f"{who} called {name}" for name, who in groups.items())
    return Event(
        event="torch-collective-mismatch",
        origin="torch",
        kind="cause",
        text=f"as number {sequence} {parts}",
        provenance={str(n): span for n, span in enumerate(_spans(sources))} | {"": next(iter(_spans(sources)))},
    )


def _spans(sources: Iterable[Timeout | FlightRecord]) -> list[Span]:
    return list(dict.fromkeys(source.provenance.get("", Span("", 0)) for source in sources))


def _compared_records(view: View) -> Iterator[Event]:
    """Calls with one number and group that differ in the dumps of two ranks, and ranks that wait in a circle."""
    found = dumps.dumps_of(view)
    for sequence, calls in dumps.mismatches(found):
        groups = {call: dumps.named(ranks) for call, ranks in calls.items()}
        yield _desync(sequence, groups, [found.of[rank] for ranks in calls.values() for rank in ranks])
    waiting = dumps.circle(found)
    if waiting:
        text = ", ".join(f"rank {rank} waits in {name}" for rank, name in waiting)
        spans = dumps.provenance(found, [rank for rank, _ in waiting])
        yield Event(
            event="torch-collective-mismatch", origin="torch", kind="cause", provenance=spans | {"": spans["0"]},
            text=f"{text}, and each is missing where another one waits",
        )  # fmt: skip


@derived
def waits(job: Job, view: View) -> tuple[Difference, ...]:
    """The collectives in which ranks waited: ``waiting`` and, if a rank is missing, ``late`` with the missing ranks."""
    worked = tuple(_work_waits(job, view))
    found = (
        *worked,
        *_told_waits(job, view),
        *(() if worked else _timeout_waits(job)),
        *dumps.waits(dumps.dumps_of(view)),
        *stack_waits(job),
        *traced_waits(job),
        *barrier_waits(job),
    )
    return found if any("late" in wait.groups for wait in found) else (*found, *call_waits(job))


@derived
def last_calls_apart(job: Job, view: View) -> tuple[Event, ...]:
    """The last calls of ranks that differ, or that are behind others, in a log that reports no failure."""
    return tuple(calls_apart(job))


@derived_of("collective-mismatch")
def has_calls(event: Event, view: View) -> bool:
    """Always True, with the last calls of the ranks as evidence."""
    for span in event.provenance:
        view.note(event, span)
    return True


@derived
def stuck_ranks(job: Job, view: View) -> tuple[Difference, ...]:
    """Calls that a rank does not finish (``stuck``) and others did (``through``), by their flight recorders."""
    return tuple(dumps.stuck(dumps.dumps_of(view)))


@derived
def is_held_up(difference: Difference, view: View) -> bool:
    """Does a rank not finish a call that others completed?"""
    for span in difference.provenance:
        view.note(difference, span)
    return "stuck" in difference.groups


@derived
def collective_splits(job: Job, view: View) -> tuple[Difference, ...]:
    """Processes in different collectives by their stacks; else a call that a program which hangs makes on some ranks.

    The groups are the processes by the collective and its place; for a program the call and the line.
    """
    return tuple(stack_splits(job)) or tuple(_source_splits(job))


def _source_splits(job: Job) -> Iterator[Difference]:
    """The first call of a pasted program that a condition on the rank keeps from some ranks, if its job hangs later."""
    hangs = [one for one in job.complaints if one.what == "hangs"]
    if not (hangs or job.timeouts) or any(one.phase in SET_UP for one in hangs):
        return
    for fault in job.script_faults:
        if fault.kind in _ON_SOME:
            provenance = lines_of([fault, *hangs[:1], *job.timeouts[:1]])
            yield Difference(what="source", name=fault.call, groups={_ON_SOME[fault.kind]: ""}, provenance=provenance)
            return


@derived
def split_text(difference: Difference, view: View) -> str:
    """The processes by collective: ``process 501 in broadcast by setup (log.py:20), 2 processes in all_reduce``."""
    for span in difference.provenance:
        view.note(difference, span)
    if difference.what == "source":
        return "".join(f"{difference.name} {how}" for how in difference.groups)
    return ", ".join(f"{who} in {call}" for call, who in difference.groups.items())


@derived
def first_rank_stays_away(job: Job, view: View) -> bool | None:
    """Did rank 1 and others time out in a collective, and rank 0 not? None where too few ranks report it.

    The first rank is usually the one that prepares, saves or loads for the others.
    """
    waiting = [t for t in job.timeouts if t.given_up and t.rank is not None]
    ranks = {t.rank for t in waiting}
    if len(ranks) < 2 or ranks.isdisjoint({0, 1}):  # noqa: PLR2004  (one rank alone tells nothing of others)
        return None
    view.note(waiting[0])
    return 0 not in ranks


@derived
def unheard_ranks(job: Job, view: View) -> tuple[int, ...]:
    """Few ranks between those that timed out without any line in the input; empty where a regular pattern is missing.

    Groups of ranks (tensor, pipeline) regularly leave out half of them or more.
    """
    waiting = {t.rank for t in job.timeouts if t.rank is not None and t.given_up}
    heard = waiting | {r.rank for r in job.ranks} | {e.rank for e in job.events}
    everybody = set(range(min(job.nranks or max(waiting, default=-1) + 1, _MOST_RANKS)))
    unheard = everybody - heard
    return tuple(sorted(unheard)) if _FEW * len(unheard) <= len(waiting) else ()


@derived
def unheard_text(timeout: Timeout, view: View) -> str:
    """The ranks without a line, ``; rank 5 says nothing at all``, or an empty text."""
    unheard = unheard_ranks(view.job, view)
    if not unheard:
        return ""
    return f"; {_named(unheard)} {'says' if len(unheard) == 1 else 'say'} nothing at all"


@derived
def has_late(difference: Difference, view: View) -> bool:
    """Are some ranks missing from the collective?"""
    for span in difference.provenance:
        view.note(difference, span)
    return "late" in difference.groups


@derived
def is_kernel_barrier(difference: Difference, view: View) -> bool:
    """Is it a barrier in a kernel, whose own lines say who waited?"""
    return difference.name.endswith(OF_KERNELS)


@derived
def late_work(difference: Difference, view: View) -> str:
    """The long work of the missing rank: ``the save on rank 0 takes 687 s``; empty where nothing shows it."""
    return difference.groups.get(_WORK, "")


def _work_waits(job: Job, view: View) -> Iterator[Difference]:
    """The collective in which the others waited up to its limit while a log shows work that took as long."""
    for found in long_works(job, view):
        timeout = found.limit.fact
        if found.work.told or not isinstance(timeout, Timeout):
            continue
        waiting = [one for one in job.timeouts if one.rank is not None and one.signal != "other"]
        numbers = {one.rank for one in waiting if one.rank is not None}
        late = "a rank" if found.work.rank is None else f"rank {found.work.rank}"
        name = waited_for(timeout, view)
        groups = {"waiting": _named(numbers) if numbers else "the others", "late": late, _WORK: found.text}
        yield Difference(what="wait", name=name, groups=groups, provenance=lines_of([found.work, timeout, *waiting]))
        return


def _told_waits(job: Job, view: View) -> Iterator[Difference]:
    """Ranks that PyTorch or Horovod itself reported missing after comparing all, unless they came later."""
    for event in job.events:
        if event.event in _MISSING and went_on(event, view):
            continue
        late = [int(number) for number in _NUMBER.findall(str(event.fields.get("late_ranks", "")))]
        if event.event in _MISSING and late:
            sequence, operation = event.fields.get("sequence"), event.fields.get("operation") or "collective"
            unnumbered = _BARRIER_NAME if event.event == "torch-barrier-missed" else "a collective"
            name = unnumbered if sequence is None else f"{operation} number {sequence}"
            groups = {"waiting": "the others", "late": _named(late)}
            yield Difference(what="wait", name=name, groups=groups, provenance=event.provenance)
        elif event.event == _TASKS_MISSING and "tasks" in event.fields:
            groups = {"waiting": "the others", "late": tasks_text(str(event.fields["tasks"]))}
            name = f"barrier {event.fields.get('barrier')}"
            yield Difference(what="wait", name=name, groups=groups, provenance=event.provenance)
        elif event.event in _BARRIER and "present_ranks" in event.fields:
            came = {0, *(int(number) for number in _NUMBER.findall(str(event.fields["present_ranks"])))}
            absent = set(range(min(job.nranks or 0, _MOST_RANKS))) - came
            groups = {
                "waiting": _named(came),
                "late": _named(absent) if absent else f"a rank beside {fold_ranks(came)}",
            }
            yield Difference(what="wait", name=_BARRIER_NAME, groups=groups, provenance=event.provenance)
    named = any(event.event in _MISSING for event in job.events)
    for event in () if named else job.events:
        if event.event in _NAMELESS:
            groups = {"waiting": "the others", "late": _NAMELESS[event.event]}
            yield Difference(what="wait", name="a collective", groups=groups, provenance=event.provenance)
            return


def _timeout_waits(job: Job) -> Iterator[Difference]:
    """Collectives of the group of all ranks in which most ranks waited, and few did not."""
    for (group, sequence), waiting in by_collective(job.timeouts).items():
        if group == UNNAMED:
            continue
        calls = {(t.operation, t.numel_in if t.operation in EQUAL_SIZES else None) for t in waiting}
        numbers = {t.rank for t in waiting if t.rank is not None}
        if len(calls) > 1 or len(numbers) < 2:  # noqa: PLR2004  (one rank alone tells nothing of others)
            continue
        late = _everybody(job) - numbers - {t.rank for t in job.timeouts if _reached(t) >= sequence}
        groups = {"waiting": f"ranks {fold_ranks(numbers)}"}
        if late and len(late) < len(numbers):
            groups["late"] = _named(late)
        provenance = {str(n): span for n, span in enumerate(_spans(waiting))}
        name = f"{waiting[0].operation} number {sequence}"
        yield Difference(what="wait", name=name, groups=groups, provenance=provenance)


def _reached(timeout: Timeout) -> int:
    """The highest sequence number that the rank is known to have called."""
    return max(timeout.sequence or 0, timeout.last_enqueued or 0)


def _everybody(job: Job) -> set[int]:
    """The numbers of all ranks: by the size of the job, else those that printed anything."""
    if job.nranks is not None:
        return set(range(min(job.nranks, _MOST_RANKS)))
    told = {r.rank for r in job.ranks} | {e.rank for e in job.events} | {t.rank for t in job.timeouts}
    return {rank for rank in told if rank is not None}


def _named(ranks: Collection[int]) -> str:
    return f"{'rank' if len(ranks) == 1 else 'ranks'} {fold_ranks(ranks)}"
