"""Did the job fail, when, and how far had it come: facts about the whole job that the engine uses for all rules.

A line that reports a failure counts only if nothing shows that the job recovered from it: a later step, a later
communicator, a server that answers, a normal end. Lines after a normal end belong to the tear-down.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from typing import Literal

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Span
from ncdiag.facts.derived import derived
from ncdiag.facts.model import FAILURES, Event, Host, Job
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.ages import is_outdated
from ncdiag.facts.vocabulary.clocks import shared_time
from ncdiag.facts.vocabulary.failures import CRASHES
from ncdiag.facts.vocabulary.granted import REFUSED, is_granted_after_all
from ncdiag.facts.vocabulary.later_steps import STEP, continued_by_clock, steps_below, steps_between
from ncdiag.facts.vocabulary.places import Place, place
from ncdiag.facts.vocabulary.recoveries import has_recovered, is_of_start_up
from ncdiag.facts.vocabulary.singletons import was_a_tool
from ncdiag.facts.vocabulary.waits import waits

_TALK = frozenset({"INFO", "TRACE", "CALL", "VERSION"})
"""Levels of progress messages; a failure printed at such a level is one after which the program continues."""
_WARNS = frozenset({"WARN", "ERROR", "ATTN", "DIAG", "ABORT"})
"""The levels of NCCL's warnings."""
_RETURN, _IN_PROGRESS = "error-return", 7
"""NCCL's trace of a return code; ncclInProgress does not count as a failure."""
_FINISHED, _STARTED, _SERVES = "program-finished", "program-started", "program-serves"
_GREETINGS = frozenset({"program-greets", "rank-announced"})
_AFTER_START = frozenset({"hangs", "crashes", "slow", "wrong-results"})
_EXIT, _ENDED = "process-exit", "comm-ended"
_EXCEPTION, _RUN_ENDED = "python-exception", "run-ended"
_STEPS_NEEDED = 3
"""The number of steps after a failure that show that the job continued; other ranks may still print one or two."""
_PORT_EVENT = "ib-async-event"
_NOTICES = frozenset({
    "port active", "client reregistration", "SM change", "communication established", "send queue drained",
    "last WQE reached",
})  # fmt: skip
"""Asynchronous events of verbs by which nothing is lost (names: rdma-core libibverbs/enum_strs.c)."""
_BEFORE, _AFTER = 3600.0, 600.0
"""Seconds before the first and after the last line of a job in which lines of the kernel may belong to it."""
_CRASHED = frozenset({"segfault", "segfault-in-nccl"})
_DAEMON = lazy_regex(r"[a-z][\w@.-]*d|systemd-[\w-]+|cron")
"""Names of system services, which by convention end in d (sshd, snapd, systemd-udevd)."""
_EXITS = frozenset({"process-exit", "worker-failed", "worker-crashed", "worker-killed"})
"""Messages of launchers about a process that ended."""
_INTERRUPTED = "program-interrupted"
_ENDINGS = frozenset({
    "process-exit", "worker-failed", "worker-killed", "mpi-rank-signal", "worker-ended", "launcher-stops-others",
    "job-cancelled", "job-step-cancelled", "mpi-job-aborted",
})  # fmt: skip
"""Messages about the end of processes and jobs, including an end that somebody requested."""
_FAULTS = frozenset({4, 6, 7, 8, 11})
"""Signals that a fault of the process itself raises: SIGILL, SIGABRT, SIGBUS, SIGFPE, SIGSEGV."""
_LOGIN = ("login", "head", "frontend", "submit", "bastion", "jump", "mgmt", "admin", "gateway")
_MILD = lazy_regex(r"\s*(?:corrected|correctable|non-?fatal|info)\b", re.IGNORECASE)
"""Messages of the hardware about a fault that it recovered from."""


@derived
def is_failure(event: Event, view: View) -> bool:
    """Does the line say that something failed: a failure in the catalogue, or a trace of a return code?

    So does a warning that is otherwise harmless, if it is the last warning before such a trace.
    """
    if event.event == _RETURN:
        return event.fields.get("code") not in {0, _IN_PROGRESS}
    if event.level in {"WARN", "ERROR"} and event.kind is None:
        return True
    if event.event == _PORT_EVENT and event.fields.get("what") in _NOTICES:
        return False
    if _MILD.match(str(event.fields.get("severity") or event.fields.get("detail") or "")):
        return False
    if event.kind in FAILURES:
        return event.level not in _TALK
    return event.level in _WARNS and event.provenance.get("") in last_words(view.job, view)


@derived
def last_words(job: Job, view: View) -> frozenset[Span | None]:
    """The last warning of each process before its first trace of a return code."""
    said: dict[tuple[str | None, int | None], Event] = {}
    found: dict[tuple[str | None, int | None], Event | None] = {}
    for event in sorted(job.events, key=lambda event: event.order):
        process = event.host, event.pid
        if event.level in _WARNS:
            said[process] = event
        elif event.event == _RETURN and is_failure(event, view):
            found.setdefault(process, said.get(process))
    return frozenset(event.provenance.get("") for event in found.values() if event is not None)


@derived
def went_on(event: Event, view: View) -> bool:
    """Did the job recover from what the line reports? It continued afterwards, or had already ended normally."""
    at = place(event)
    if at is None:
        return False
    seen = marks(view.job, view)
    is_apart = at[0] not in seen.sources
    recovered = has_recovered(event, view) and not (is_apart and _stopped_by_clock(event, view))
    if recovered or _came_up(event, at, view) or _was_handled(event, view) or was_a_tool(event, view):
        return True
    if ends_by_hand(event, view) or (waits(event) and _began(at, view)):
        return True
    if event.event in _EXITS and _is_before_the_job(at, seen, view):
        return True
    if is_apart:  # only times order lines of the kernel's log and of a rank's file
        return bool(seen.finished) or bool(continued_by_clock(event, view))
    return _finished_around(at, seen) or _served_after(at, seen) or _made_steps(event, at, view)


@derived
def ends_by_hand(event: Event, view: View) -> bool:
    """Does a process or the job end here because somebody stopped it, by Ctrl-C or SIGINT?"""
    at = place(event)
    if at is None or event.event not in _ENDINGS or event.fields.get("signal") in _FAULTS:
        return False
    source, line = at
    return interrupts(view.job, view).get(source, line) < line


@derived
def interrupts(job: Job, view: View) -> dict[str, int]:
    """The line of each source that first says that somebody stopped a program."""
    found: dict[str, int] = {}
    for at in (place(event) for event in job.events if event.event == _INTERRUPTED):
        if at is not None:
            found[at[0]] = min(at[1], found.get(*at))
    return found


def _is_before_the_job(at: Place, marks: Marks, view: View) -> bool:
    """Did a step end before the first line of the job, and did the job end normally afterwards?

    Scripts clean up and run checks first; such a step may fail without harm.
    """
    source, line = at
    first = first_signs(view.job, view).get(source)
    ends = marks.finished.get(source, [])
    return first is not None and line < first and bisect_left(ends, first) < len(ends)


@derived
def first_signs(job: Job, view: View) -> dict[str, int]:
    """The line of each source in which a rank of the job first appears, or a program says that its work begins."""
    seen = marks(job, view)
    found = {source: lines[0] for kind in (seen.begun, seen.stepped) for source, lines in kind.items() if lines}
    for rank in job.ranks:
        at = place(rank)
        if at is not None:
            found[at[0]] = min(at[1], found.get(at[0], at[1]))
    return found


def _finished_around(at: Place, marks: Marks) -> bool:
    """Did the program end normally after this line, or before it without another beginning in between?"""
    source, line = at
    ends, again = marks.finished.get(source, []), marks.started.get(source, [])
    later = bisect_left(ends, line)
    if later < len(ends) and bisect_right(again, line) == bisect_left(again, ends[later]):
        return True
    begun = sorted([*again, *marks.begun.get(source, [])])
    return later > 0 and bisect_left(begun, ends[later - 1]) == bisect_right(begun, line)


def _served_after(at: Place, marks: Marks) -> bool:
    """Did a server answer a request after the line?"""
    source, line = at
    served = marks.served.get(source, [])
    return bisect_right(served, line) < len(served)


def _made_steps(event: Event, at: Place, view: View) -> bool:
    """Did the job make enough steps after the line to show that it continued?"""
    steps = steps_below(event, at, view)
    return len(steps) >= (1 if waits(event) else _STEPS_NEEDED) or steps_between(steps) >= _STEPS_NEEDED


def _stopped_by_clock(event: Event, view: View) -> bool:
    """Did a job that hangs make its last steps when this happened, which another source has?"""
    hangs = view.job.timeouts or any(told.what == "hangs" for told in view.job.complaints)
    return bool(hangs) and continued_by_clock(event, view) is False


def _began(at: Place, view: View) -> bool:
    """Did a process complete its communicator afterwards, in the same source?"""
    return any(ready[0] == at[0] and ready[1] > at[1] for ready in ready_places(view.job, view).values())


@derived
def is_in_the_way(event: Event, view: View) -> bool:
    """Did the job not go on after this line, and did no counter rise twice?

    It takes less than `went_on`, for failures that keep their process, or all of them, from the first step.
    """
    at = place(event)
    return not went_on(event, view) and (at is None or len(steps_below(event, at, view)) < _STEPS_NEEDED - 1)


def _came_up(event: Event, at: Place, view: View) -> bool:
    """Did the process that warned complete its communicator afterwards?"""
    if event.pid is None or event.origin not in {"nccl", "rccl", "plugin", "libfabric"}:
        return False
    ready = ready_places(view.job, view).get((event.host, event.pid))
    return ready is not None and ready[0] == at[0] and ready[1] > at[1]


def _was_handled(event: Event, view: View) -> bool:
    """Did a program print an exception, although the job ended with status 0 and no process was reported as failed?"""
    return event.event == _EXCEPTION and ended_with_0(view.job, view)


@derived
def ended_with_0(job: Job, view: View) -> bool:
    """Does `ncdiag run` report status 0 for its job, without any line about a failed process?"""
    names = view.event_names()
    if _RUN_ENDED not in names or not (_EXITS | CRASHES).isdisjoint(names):
        return False
    ends = [event.fields for event in job.events if event.event == _RUN_ENDED]
    return not any(fields.get("exit_code") or "signal" in fields for fields in ends)


@derived
def ready_places(job: Job, view: View) -> dict[tuple[str | None, int | None], Place]:
    """The place where each process last printed that a communicator was complete, by host and process id."""
    found: dict[tuple[str | None, int | None], Place] = {}
    for rank in job.ranks:
        at = place(rank, "state") if rank.state == "ready" else None
        if at is not None:
            found[rank.host, rank.pid] = max(at, found.get((rank.host, rank.pid), at))
    return found


class Marks(msgspec.Struct, frozen=True):
    """Line numbers, in ascending order by source, at which programs started, continued, served and ended normally.

    ``started``: a command or test was started, possibly again. ``begun``: a program says that its work begins.
    """

    started: dict[str, list[int]]
    begun: dict[str, list[int]]
    stepped: dict[str, list[int]]
    served: dict[str, list[int]]
    finished: dict[str, list[int]]

    @property
    def sources(self) -> frozenset[str]:
        """The sources that contain any of these lines."""
        return frozenset({*self.started, *self.begun, *self.stepped, *self.served, *self.finished})


@derived
def marks(job: Job, view: View) -> Marks:
    """The lines that show that programs started, continued, served and ended normally."""
    found = Marks({}, {}, {}, {}, {})
    kinds = {_FINISHED: found.finished, _STARTED: found.begun, STEP: found.stepped, _SERVES: found.served}
    exits = [event for event in job.events if event.event == _EXIT]
    if exits and not any(event.fields.get("exit_code") or event.fields.get("signal") for event in exits):
        kinds[_EXIT] = found.finished
    told = [(kinds[event.event], place(event)) for event in job.events if event.event in kinds]
    for run in job.benchmarks:
        told.append((found.started, place(run)))
        if run.average_busbw is not None and not run.out_of_bounds:
            told.append((found.finished, place(run, "average_busbw")))
    told += [(found.started, place(launch)) for launch in job.launches]
    told += [(found.finished, at) for at in _greetings(job)]
    for lines, at in told:
        if at is not None:
            lines.setdefault(at[0], []).append(at[1])
    for kind in (found.started, found.begun, found.stepped, found.served, found.finished):
        for numbers in kind.values():
            numbers.sort()
    return found


def _greetings(job: Job) -> list[Place | None]:
    """The places of the greetings of a test program of MPI, after which nothing fails; none of a job of NCCL.

    A job that hangs or crashes for those who describe it may do so after the greeting.
    """
    spoken = [event for event in job.events if event.event in _GREETINGS]
    greetings = [event for event in spoken if event.text.lstrip().lower().startswith(("hello", "node"))]
    if not greetings or job.ranks or any(complaint.what in _AFTER_START for complaint in job.complaints):
        return []
    last = max(event.order for event in greetings)
    failed = any(event.kind in FAILURES and event.order > last for event in job.events)
    return [] if failed else [place(event) for event in greetings]


@derived
def is_elsewhere(event: Event, view: View) -> bool:
    """Does the line belong to another time than the job, to a host that the job did not use, or to a system service?"""
    if (event.event in _CRASHED and is_service(event, view)) or is_outdated(event, view):
        return True
    host = view.host(event.host)
    if host is not None and is_in_job(host, view) is False:
        return True
    window = time_span(view.job, view)
    if event.origin == "kernel" and event.time is None and view.job.ranks and is_of_start_up(event):
        return True
    if event.origin != "kernel" or event.time is None or window is None:
        return False
    return not window[0] - _BEFORE <= event.time <= window[1] + _AFTER


def is_service(event: Event, view: View) -> bool:
    """Is the process of a kernel line a system service by its name, without a rank or launch of that name?"""
    name = event.fields.get("process")
    if not isinstance(name, str) or not _DAEMON.fullmatch(name):
        return False
    job = view.job
    launched = any(name in (launch.text or "") for launch in job.launches)
    return not launched and not any(rank.pid == event.fields.get("pid") for rank in job.ranks)


@derived
def time_span(job: Job, view: View) -> tuple[float, float] | None:
    """The times of the first and last dated line of the job's own programs, in seconds since the epoch."""
    times = [shared_time(e, view) for e in job.events if e.time is not None and e.origin != "kernel"]
    known = [time for time in times if time is not None]
    return (min(known), max(known)) if known else None


@derived
def is_in_job(host: Host, view: View) -> bool | None:
    """Does the host take part in the job? False for a login or management node by name when ranks ran elsewhere."""
    hosts = {rank.host for rank in view.job.ranks}
    if host.name in hosts:
        return True
    named = {name for name in hosts if name}
    return False if named and any(word in host.name.lower() for word in _LOGIN) else None


@derived
def is_open_failure(event: Event, view: View) -> bool:
    """Does the line report a failure that the job is not known to have recovered from?"""
    if not is_failure(event, view) or (event.event in REFUSED and is_granted_after_all(event, view)):
        return False
    return not went_on(event, view) and not is_elsewhere(event, view)


def is_past(event: Event, view: View) -> bool:
    """Does the line report a failure that the job recovered from, or that does not belong to the job?"""
    return is_failure(event, view) and not is_open_failure(event, view)


@derived
def open_failures(job: Job, view: View) -> tuple[Event, ...]:
    """The lines that report failures that count, in the order of the input."""
    return tuple(event for event in job.events if is_open_failure(event, view))


def _all_ended(job: Job) -> bool:
    """Did every rank that was seen destroy the communicator of all ranks (src/init.cc, commDestroySync, since 2.12)?"""
    width = max((rank.nranks for rank in job.ranks if rank.nranks is not None), default=None)
    ended = {
        (event.host, event.pid, event.fields.get("rank"))
        for event in job.events
        if event.event == _ENDED and event.fields.get("how") == "Destroy" and event.fields.get("nranks") == width
    }
    return width is not None and all((rank.host, rank.pid, rank.rank) in ended for rank in job.ranks)


@derived
def outcome(job: Job, view: View) -> Literal["failed", "finished", "running", "unknown"]:
    """What happened to the job: ``failed`` without recovery, ``finished`` normally, ``running`` until the last line."""
    if open_failures(job, view):
        return "failed"
    found = marks(job, view)
    if found.finished or _all_ended(job):
        return "finished"
    return "running" if found.stepped or found.served else "unknown"
