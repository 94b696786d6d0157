"""Which rank failed first, which ended first, and the last thing that every rank did.

Timestamps order the lines of all hosts, corrected for the clocks where possible. Without them, lines are ordered within
one source only, and the first line of each of two files is reported.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from ncdiag.base.spans import Span
from ncdiag.facts.assemble_hosts import UNNAMED
from ncdiag.facts.derived import derived
from ncdiag.facts.fold import fold_hosts, fold_ranks
from ncdiag.facts.model import PHASES, Event, Job, Moment, OrderedBy, Phase, Step
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.clocks import RESOLUTION, clock_offsets, shared_time, source
from ncdiag.facts.vocabulary.failures import process_text, same_process
from ncdiag.facts.vocabulary.job import is_timeout
from ncdiag.facts.vocabulary.outcome import open_failures
from ncdiag.messages import about
from ncdiag.messages.vocabulary.phases import came_to
from ncdiag.messages.vocabulary.seen import first_hand, is_end, speakers

_SKEW = 2.0
"""Seconds by which the clocks of two hosts may differ when their offsets are unknown (NTP keeps them closer)."""
_MOST, _GROUPS = 3, 16
"""The largest number of lines reported where the first is unknown, and of groups of ranks with the same last action."""
_MOST_RANKS = 1 << 17
_TEXT = 160
_CAME: dict[Phase, str] = {
    "rendezvous": "was at the rendezvous", "bootstrap": "had begun the bootstrap",
    "init": "had completed the bootstrap and begun its setup", "connect": "was connecting to the others",
    "first-collective": "had completed its communicator", "later": "was in a later collective", "end": "had ended",
}  # fmt: skip
_FIRST: dict[bool, Step] = {True: "first-to-give-up", False: "first-failure"}
_CALLED, _WAITED = len(PHASES), len(PHASES) + 1
_SILENT = "printed nothing in this input"


@derived
def timeline(job: Job, view: View) -> tuple[Moment, ...]:
    """The first failure, the first end and the last action of each rank.

    Empty unless several ranks or hosts print lines.
    """
    failures = open_failures(job, view)
    if not failures or not _several(job):
        return ()
    first, how = _first(first_hand(failures, view), view)
    found = [_moment(_FIRST[_gave_up(event)], event, how, speakers([event]), view) for event in first]
    if len(first) == 1:  # with several, it is unknown whether an end came before
        ended, by = first_of([event for event in failures if is_end(event)], view)
        if len(ended) == 1 and ended != first:
            found.append(_moment("first-end", ended[0], by, process_text([*same_process(ended[0], view)]), view))
    return (*found, *_last(job, view))


def _first(events: Sequence[Event], view: View) -> tuple[list[Event], OrderedBy]:
    """The first of the failures; where nothing orders them, waits that timed out come after other failures."""
    found, how = first_of(events, view)
    failed = [event for event in events if not _gave_up(event)]
    if how != "none" or len(failed) in {0, len(events)}:
        return found, how
    found, how = first_of(failed, view)
    return found, "wait" if len(found) == 1 else how


def _gave_up(event: Event) -> bool:
    return about.complaint(event.event) == "hangs"


def _several(job: Job) -> bool:
    """Do several ranks or hosts print lines?"""
    told = [(rank.rank, rank.host) for rank in job.ranks] + [(event.rank, event.host) for event in job.events]
    ranks = {rank for rank, _ in told if rank is not None}
    hosts = {host for _, host in told if host not in {None, UNNAMED}}
    return len(ranks) > 1 or len(hosts) > 1


def first_of(events: Sequence[Event], view: View) -> tuple[list[Event], OrderedBy]:
    """Return the first of the events and what shows it; all events that may be the first where nothing does."""
    if not events:
        return [], "none"
    if all(event.time is not None for event in events):
        return _first_by_time(events, view)
    firsts: dict[str, Event] = {}
    for event in sorted(events, key=lambda event: event.order):
        firsts.setdefault(source(event), event)
    found = list(firsts.values())[:_MOST]
    return found, "line" if len(firsts) == 1 else "none"


def _first_by_time(events: Iterable[Event], view: View) -> tuple[list[Event], OrderedBy]:
    offsets = clock_offsets(view.job, view) or {}
    timed = sorted(((shared_time(event, view) or 0.0, event.order, event) for event in events), key=lambda one: one[:2])
    begin, _, first = timed[0]
    rivals: dict[str | None, Event] = {}
    for time, _, event in timed:
        known = {event.host, first.host} <= offsets.keys()
        if event.host != first.host and time - begin <= (RESOLUTION if known else _SKEW):
            rivals.setdefault(event.host, event)
    return [first, *rivals.values()][:_MOST], "none" if rivals else "time"


def _moment(what: Step, event: Event, how: OrderedBy, who: str, view: View) -> Moment:
    text = " ".join(event.text.split())
    return Moment(
        what=what, who=who, text=text if len(text) <= _TEXT else f"{text[: _TEXT - 4].rstrip()} ...",
        time=shared_time(event, view), ordered_by=how, provenance=event.provenance,
    )  # fmt: skip


class _Deed(NamedTuple):
    """The last action of a rank; those with a lower ``far`` are reported first."""

    far: tuple[int, int]
    text: str
    host: str | None = None
    span: Span | None = None


def _last(job: Job, view: View) -> Iterator[Moment]:
    """The last actions of the ranks, the least advanced first, and the ranks without any line."""
    did: dict[int, _Deed] = {}
    for number, deed in _deeds(job, view):
        did[number] = max(did.get(number, deed), deed, key=lambda one: one.far)
    if job.nranks is not None and job.nranks <= _MOST_RANKS:
        did |= {number: _Deed((-1, 0), _SILENT) for number in range(job.nranks) if number not in did}
    groups: dict[tuple[tuple[int, int], str], list[int]] = defaultdict(list)
    for number, deed in did.items():
        groups[deed.far, deed.text].append(number)
    for alike in sorted(groups)[:_GROUPS]:
        deeds = [did[number] for number in groups[alike]]
        spans = [deed.span for deed in deeds if deed.span is not None][:_MOST]
        yield Moment(
            what="last", who=_who(groups[alike], {deed.host for deed in deeds}), text=alike[1],
            provenance={str(number or ""): span for number, span in enumerate(spans)},
        )  # fmt: skip


def _deeds(job: Job, view: View) -> Iterator[tuple[int, _Deed]]:
    """The action of each rank, from its log and from its watchdog."""
    hosts: dict[int | None, str] = {}
    for rank in job.ranks:
        if rank.rank is None:
            continue
        hosts[rank.rank] = rank.host
        if rank.last_ops:
            op = rank.last_ops[0]
            text, span = f"called {op.function}, opCount {op.op_count:x}", rank.provenance.get("last_ops")
            yield rank.rank, _Deed((_CALLED, op.op_count), text, rank.host, span)
        else:
            came = came_to(rank, view)
            span = max(rank.provenance.values(), key=lambda span: (span.source, span.line), default=None)
            yield rank.rank, _Deed((PHASES.index(came), 0), _CAME[came], rank.host, span)
    for timeout in job.timeouts:
        if timeout.rank is not None and is_timeout(timeout, view):
            which = f" number {timeout.sequence}" if timeout.sequence is not None else ""
            text, span = f"waited in {timeout.operation or 'a collective'}{which}", timeout.provenance.get("")
            yield timeout.rank, _Deed((_WAITED, timeout.sequence or 0), text, hosts.get(timeout.rank), span)


def _who(ranks: Collection[int], hosts: Collection[str | None]) -> str:
    word = "rank" if len(ranks) == 1 else "ranks"
    named = fold_hosts({host for host in hosts if host is not None and host != UNNAMED})
    return f"{word} {fold_ranks(ranks)}{f' on {named}' if named else ''}"
