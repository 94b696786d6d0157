"""A job that prints nothing any more: how far it came, who did not arrive, and what its processes do."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived, derived_of
from ncdiag.facts.fold import fold_hosts, fold_ranks
from ncdiag.facts.model import Event, Job, StackDump
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.ages import EXAMINED
from ncdiag.facts.vocabulary.communicators import is_stuck
from ncdiag.facts.vocabulary.outcome import outcome
from ncdiag.facts.vocabulary.stack_spots import spot_of
from ncdiag.knowledge.launcher.ends import RUN_ENDED, moment, rank_of
from ncdiag.knowledge.launcher.progress import progress
from ncdiag.messages.vocabulary.phases import phase

RUN_SILENT, PROCESS_STATE = "run-silent", "process-state"
_STATES = {
    "T": "is stopped", "t": "is held by a debugger", "D": "cannot be interrupted", "Z": "has ended and is a zombie",
    "R": "runs", "S": "sleeps", "I": "sleeps",
}  # fmt: skip
"""What the letters of proc_pid_stat(5) say."""
_OF_SEVERAL = {
    "T": "are stopped", "t": "are held by a debugger", "Z": "have ended and are zombies", "R": "run", "S": "sleep",
    "I": "sleep",
}  # fmt: skip
"""The same of several processes, where it differs."""
_OF_A_DISK = lazy_regex(r"folio|page|io_schedule|bio_|buffer|jbd2|xfs_|ext4_|blk_|balance_dirty")
"""Functions of the kernel in which a process waits for a local disk or its cache."""
_DECIDE = "TtD"
"""States in which a process cannot go on by itself, in the order of what decides."""
_NAMED = 3
"""The most processes that a title names one by one."""
_PIDS = 8
"""The most processes that a command names."""


@derived_of(RUN_SILENT)
def is_silent_job(event: Event, view: View) -> bool:
    """Does the job hang as far as is known: it printed nothing for long, and ended at most by ncdiag?

    The growth of logs alone shows no hang of a job that did not start, or that failed or finished before the silence.
    """
    job = view.job
    if any(other.event == RUN_ENDED for other in job.events):
        return False
    is_watched = event.fields.get("of_logs") is None
    return is_watched or (phase(job, view) is not None and outcome(job, view) not in {"failed", "finished"})


@derived
def hang_heading(event: Event, view: View) -> str:
    """Since when there is no output, how far the job came, and which ranks did not arrive, as a title."""
    fields = event.fields
    how = f"HANGS: no output for {fields.get('silent_seconds')} s (since {fields.get('since')})"
    reached = moment(event, view) or "before NCCL printed a line"
    return "; ".join([f"{how}, {reached}", *_set_ups(view.job, view), *processes(view.job, view)])


@derived_of(PROCESS_STATE)
def holds_the_job(event: Event, view: View) -> bool:
    """Can this process not go on by itself, of a job that is silent, or that is said to hang, or examined?

    It is the first of those in the same state at the same place. What somebody showed last of a process decides.
    """
    job = view.job
    is_asked = view.events_named(EXAMINED) or any(is_silent_job(e, view) for e in view.events_named(RUN_SILENT))
    if _letter(event) not in _DECIDE or not (is_asked or (_is_said_to_hang(job) and _lasts(event, view))):
        return False
    return _alike(event, view)[0].order == event.order


def _is_said_to_hang(job: Job) -> bool:
    return any(complaint.what == "hangs" and not complaint.is_past for complaint in job.complaints)


def _lasts(event: Event, view: View) -> bool:
    """Does the state of a process that somebody showed say more than about the moment in which it was read?

    A healthy process is in state D while it reads a file: that counts if it is seen twice, or waits for a server or a
    device. A debugger that took the stacks of a job that hangs holds its processes as well.
    """
    letter = _letter(event)
    if _went_on(event, view):
        return False
    if letter == "t":
        return not view.job.stack_dumps
    wchan = str(event.fields.get("wchan"))
    if letter != "D" or not (wchan.strip("-0") == "" or _OF_A_DISK.search(wchan)):
        return True
    return sum(_letter(each) == "D" for each in _states_of(event, view)) > 1


def _went_on(event: Event, view: View) -> bool:
    """Does a later table of the same text show the process, or the thread, in a state in which it goes on?"""
    return any(_is_later(each, event) and _letter(each) not in _DECIDE for each in _states_of(event, view))


def _is_later(event: Event, other: Event) -> bool:
    """Is the event, of the same process, also of the same thread, and below the other in one text?"""
    if event.fields.get("thread_id") != other.fields.get("thread_id"):
        return False
    span, earlier = event.provenance.get(""), other.provenance.get("")
    return span is not None and earlier is not None and span.source == earlier.source and event.order > other.order


@derived
def held_text(event: Event, view: View) -> str:
    """The process, and others like it, with its state: ``rank 3 (PID 4711) is stopped (T: do_signal_stop)``."""
    alike = _alike(event, view)
    for each in alike:
        view.note(each)
    wchan = str(event.fields.get("wchan"))
    return f"{_names(alike, view)} {_state_text(_letter(event), wchan, len(alike))}"


@derived
def held_pids(event: Event, view: View) -> str:
    """The ids of the processes that are held like this one, for a command line."""
    return " ".join(str(each.pid) for each in _alike(event, view))


def _alike(event: Event, view: View) -> list[Event]:
    """The processes in the same state at the same place, each once, in the order in which they were read."""
    return list(view.remembered(("processes by state",), lambda: _by_state(view.job))[_place(event)].values())


def _by_state(job: Job) -> Mapping[tuple[str, object], dict[object, Event]]:
    found: dict[tuple[str, object], dict[object, Event]] = defaultdict(dict)
    for event in states(job):
        found[_place(event)].setdefault((*_process(event), event.fields.get("thread_id")), event)
    return found


def _place(event: Event) -> tuple[str, object]:
    return _letter(event), event.fields.get("wchan")


def _process(event: Event) -> tuple[str | None, int | None]:
    return event.host, event.pid


def _set_ups(job: Job, view: View) -> list[str]:
    """The communicators whose set-up waits for ranks, with the ranks that came and that did not."""
    return [f"communicator {c.id}: {progress(c, view)}" for c in job.communicators if is_stuck(c, view)][:1]


def states(job: Job) -> list[Event]:
    """The events of the processes whose state was read."""
    return [event for event in job.events if event.event == PROCESS_STATE]


def _states_of(event: Event, view: View) -> Sequence[Event]:
    """All states that were read of the process of the event."""
    return view.remembered(("states by process",), lambda: _by_process(view.job))[_process(event)]


def _by_process(job: Job) -> Mapping[tuple[str | None, int | None], Sequence[Event]]:
    found: dict[tuple[str | None, int | None], list[Event]] = defaultdict(list)
    for event in states(job):
        found[_process(event)].append(event)
    return found


def _letter(event: Event) -> str:
    return str(event.fields.get("state"))


def processes(job: Job, view: View) -> list[str]:
    """What the processes do: those that cannot go on first, else all of them, alike ones together.

    Those whose stacks were taken are alike if they are also at the same place in their program, and the fewest come
    first. Those without a stack, such as a launcher, come last.
    """
    seen = states(job)
    for event in seen:
        view.note(event)
    deciding = [event for letter in _DECIDE for event in seen if _letter(event) == letter]
    groups: dict[tuple[str, str, str], list[Event]] = defaultdict(list)
    for event in deciding or seen:
        groups[_letter(event), str(event.fields.get("wchan")), _stack_text(event, view)].append(event)
    told = sorted(groups.items(), key=lambda group: (group[0][2] == "", len(group[1])))
    return [
        " ".join([_names(events, view), _state_text(letter, wchan, len(events)), *([place] if place else [])])
        for (letter, wchan, place), events in told
    ][:_NAMED]


def _stack_text(event: Event, view: View) -> str:
    """Where the process is in its program: ``in waits (lock.py:5)``; empty if its stack was not read."""
    for dump in _stacks(event, view):
        view.note(dump)
        spot = spot_of(dump)
        if spot is not None:
            return spot.text
    return ""


def _stacks(event: Event, view: View) -> Iterator[StackDump]:
    """The stacks of the process. Hosts may have the same process ids."""
    for dump in view.job.stack_dumps:
        if (
            event.pid is not None
            and dump.pid == event.pid
            and (None in {dump.host, event.host} or dump.host == event.host)
        ):
            yield dump


@derived
def unread_pids(event: Event, view: View) -> str:
    """The first processes of the silent job whose stacks were not taken, for a command line; empty if there is none."""
    left = [str(each.pid) for each in states(view.job) if not any(_stacks(each, view)) and each.pid is not None]
    return " ".join(left[:_PIDS])


@derived
def read_pids(event: Event, view: View) -> str:
    """The first processes of the silent job whose stacks were taken, for a command line; empty if there is none."""
    read = [str(each.pid) for each in states(view.job) if any(_stacks(each, view)) and each.pid is not None]
    return " ".join(read[:_PIDS])


def _names(events: list[Event], view: View) -> str:
    """``rank 3 (PID 4711)``, ``python (PID 4711)``; several alike: ``8 processes (ranks 0-7)``.

    The hosts are named if processes of several hosts were examined: ``rank 3 on n2 (PID 4711)``.
    """
    ranks = [number for event in events if (number := _rank_number(event, view)) is not None]
    hosts = {event.host for event in events if event.host}
    place = f" on {fold_hosts(hosts)}" if hosts and len({event.host for event in states(view.job)}) > 1 else ""
    if len(events) == 1:
        name = f"rank {ranks[0]}" if ranks else events[0].fields.get("name")
        thread = events[0].fields.get("thread_id")
        whose = "" if thread is None else f"thread {thread} of "
        return f"{whose}{name}{place} (PID {events[0].pid})"
    return f"{len(events)} processes{place}" + (f" (ranks {fold_ranks(ranks)})" if ranks else "")


def _rank_number(event: Event, view: View) -> int | None:
    """The rank of a process, by the log of NCCL, else by its stack. Hosts may have the same process ids."""
    rank = rank_of(event, view)
    if rank is not None and rank.rank is not None:
        return rank.rank
    return next((dump.rank for dump in _stacks(event, view)), None)


def _state_text(letter: str, wchan: str, count: int) -> str:
    """The state in words, with the function of the kernel in which the process waits: ``sleeps (S: do_wait)``."""
    words = (_OF_SEVERAL if count > 1 else _STATES).get(letter, _STATES.get(letter, "is"))
    function, _, module = wchan.partition("@")
    place = f"{function} in {module}" if module else function
    return f"{words} ({letter}{'' if wchan == '-' else f': {place}'})"
