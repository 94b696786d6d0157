"""The problems that the input itself shows, independent of complaints: failures, hangs, ends and wrong results.

A job that finished, or that makes steps until its last line, has no failure and does not hang. An event that only
echoes another failure does not count as a problem.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from ncdiag.base.spans import Span
from ncdiag.facts.assemble_hosts import UNNAMED
from ncdiag.facts.derived import derived
from ncdiag.facts.fold import fold_hosts, fold_ranks
from ncdiag.facts.model import SET_UP, Event, Fact, Job, Phase, SeenComplaint, What
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.benchmarks import has_wrong_results
from ncdiag.facts.vocabulary.clocks import is_before
from ncdiag.facts.vocabulary.communicators import is_stuck
from ncdiag.facts.vocabulary.job import is_timeout, stalled_at_start
from ncdiag.facts.vocabulary.outcome import open_failures, outcome
from ncdiag.facts.vocabulary.stacks import place_text, process_name, stands
from ncdiag.messages import about
from ncdiag.messages.vocabulary.phases import comm_phase, phase, phase_met
from ncdiag.messages.vocabulary.reasons import reason
from ncdiag.nccl.vocabulary.peer_access import stands_at_first_size, waiting_gpus

_WELL = frozenset({"finished", "running"})
_ENDS = frozenset({"process-end", "job-end", "exception"})
_LINES = 3
"""The largest number of lines of evidence for a complaint."""
_STANDS: dict[str, Phase | None] = {"rendezvous": "rendezvous", "set-up": "init", "lock": None, "operation": "later"}
"""Kinds of stack positions at which a process waits for others, with the phase that the job reached."""


class _Trouble(NamedTuple):
    what: What
    phase: Phase | None
    text: str
    spans: tuple[Span | None, ...]
    where: str = ""


@derived
def seen_complaints(job: Job, view: View) -> tuple[SeenComplaint, ...]:
    """The problems that the input shows, each kind once, the first one first."""
    found = {trouble.what: trouble for trouble in reversed([*_troubles(job, view)])}
    return tuple(_complaint(trouble) for trouble in reversed(found.values()))


def goes_well(job: Job, view: View) -> bool:
    """Did the job finish, or does it make steps until its last line?"""
    return outcome(job, view) in _WELL


def _troubles(job: Job, view: View) -> Iterator[_Trouble]:
    if not goes_well(job, view):
        failures = [*_failures(job, view)]
        waits = [] if any(trouble.what == "hangs" for trouble in failures) else [*_waits(job, view)]
        yield from failures
        yield from waits[:1]
    wrong = [run for run in job.benchmarks if has_wrong_results(run, view)]
    if wrong:
        yield _Trouble("wrong-results", "later", "The check of the results found wrong elements", _lines(wrong))


def _complaint(trouble: _Trouble) -> SeenComplaint:
    lines = [span for span in dict.fromkeys(trouble.spans) if span is not None][:_LINES]
    return SeenComplaint(
        what=trouble.what, phase=trouble.phase, text=trouble.text, where=trouble.where,
        provenance={str(number or ""): span for number, span in enumerate(lines)},
    )  # fmt: skip


def _lines(facts: Iterable[Fact], field: str = "") -> tuple[Span | None, ...]:
    return tuple(fact.provenance.get(field) or fact.provenance.get("") for fact in facts)


def refined(what: What, met: Phase | None) -> What:
    """The kind of problem, given the phase: a failure while a communicator is set up becomes ``fails-at-init``."""
    if what == "cannot-start" and met not in {None, "rendezvous"}:
        what = "fails"
    return "fails-at-init" if what == "fails" and met in SET_UP else what


def is_telling(event: Event, view: View) -> bool:
    """Does the line say what failed, and not only that something failed?"""
    known = about.category(event.event)
    vague = known is not None and known.vague and reason(event, view) not in known.telling
    return event.kind != "echo" and not vague


def first_hand(failures: Collection[Event], view: View) -> list[Event]:
    """The failures that do not echo others; only those that say what failed, where any does.

    An exception or an end of a rank that has no other failure counts.
    """
    telling = [event for event in failures if is_telling(event, view)]
    spoken = {event.rank for event in telling} | {None}
    telling += [e for e in failures if is_end(e) and e.rank not in spoken and not is_telling(e, view)]
    own = [event for event in failures if event.kind != "echo"]
    return telling or own or list(failures)


def is_end(event: Event) -> bool:
    """Does the line report that a process ended, or was ended?"""
    return event.kind != "echo" and about.entry(event.event).category in _ENDS


def is_of_job(event: Event) -> bool:
    """Is it a failure of the job?

    A kernel message is about the machine, and about a job only where it ends a process.
    """
    what = about.complaint(event.event)
    return what != "none" and (event.origin != "kernel" or what == "crashes")


def speakers(events: Collection[Event]) -> str:
    """The ranks that printed the lines, as far as known: ``ranks 0-3 on n[1-2]``."""
    numbers = {event.rank for event in events if event.rank is not None}
    hosts = fold_hosts({event.host for event in events if event.host not in {None, UNNAMED}})
    ranks = f"{'rank' if len(numbers) == 1 else 'ranks'} {fold_ranks(numbers)}" if numbers else ""
    return " on ".join(filter(None, (ranks, hosts)))


def _failures(job: Job, view: View) -> Iterator[_Trouble]:
    groups: dict[What, list[Event]] = {}
    failures = [event for event in open_failures(job, view) if is_of_job(event)]
    for event in sorted(first_hand(failures, view), key=lambda event: event.order):
        groups.setdefault(_what(event, view), []).append(event)
    hung = groups.get("hangs", [])
    if hung and all(is_before(hung[0], event, view) for event in groups.get("crashes", [])):
        groups.pop("crashes", None)  # a process that timed out waiting ends itself
    for what, events in groups.items():
        known = about.category(events[0].event)
        text = known.title if known is not None else "A program reports a failure"
        met = _hung_phase(job, view) if what == "hangs" else phase_met(events[0], view)
        yield _Trouble(what, met, text, _lines(events), speakers(events))


def _what(event: Event, view: View) -> What:
    what = about.complaint(event.event)
    if what == "none" or (what == "crashes" and not is_telling(event, view)):
        what = "fails"
    return refined(what, phase_met(event, view))


def _hung_phase(job: Job, view: View) -> Phase | None:
    """The phase of a job whose collective timed out: the set-up of its communicator, if that is not complete."""
    reached: Phase | None = phase(job, view)
    if stalled_at_start(job, view):
        return reached if reached in SET_UP else "first-collective"
    numbers = [timeout.sequence for timeout in job.timeouts if timeout.sequence is not None]
    return "later" if numbers and min(numbers) > 1 else reached


def _waits(job: Job, view: View) -> Iterator[_Trouble]:
    """Signs that processes wait for each other though no line says so, the most reliable first."""
    given_up = [timeout for timeout in job.timeouts if is_timeout(timeout, view)]
    if given_up:
        yield _Trouble("hangs", _hung_phase(job, view), "A collective ran into a time limit", _lines(given_up))
    for communicator in job.communicators:
        if is_stuck(communicator, view):
            text = f"Communicator {communicator.id} was never completed"
            yield _Trouble("hangs", comm_phase(communicator, view), text, _lines([communicator]))
    for dump in job.stack_dumps:
        place = stands(dump, view)
        if place in _STANDS:
            text = f"{process_name(dump)} waits for others, {place_text(dump)}"
            yield _Trouble("hangs", _STANDS[place], text, _lines([dump]))
    if not open_failures(job, view):
        yield from _silences(job, view)


def _silences(job: Job, view: View) -> Iterator[_Trouble]:
    """Problems of parts of the job that make no progress and print no message."""
    reached: Phase | None = phase(job, view)
    met: Phase | None = reached if reached in SET_UP else "first-collective"
    for run in job.benchmarks:
        if stands_at_first_size(run, view):
            yield _Trouble("hangs", met, "A test printed the head of its table and no row", _lines([run]))
    busy = waiting_gpus(job, view)
    if busy:
        spans = _lines((gpu for host in job.hosts for gpu in host.gpus if gpu.load_percent), "load_percent")
        yield _Trouble("hangs", met, f"{busy} are busy all the time and draw little power", spans)
