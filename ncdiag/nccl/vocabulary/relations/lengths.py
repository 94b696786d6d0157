"""How long work, pauses and waits lasted, against the limits of time that were in force: arithmetic that decides.

Limits are those that a watchdog printed, or that somebody tells. Work that a log shows counts only if it was going on
while the others waited: by the stamps of both where they have some, else if no step was counted between them.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timezone

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.model import Duration, Event, Fact, Job, Relation
from ncdiag.facts.model.told import Spell
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.probes import lines_of

NOUNS: dict[Spell, str] = {
    "evaluating": "the evaluation", "compiling": "the compilation", "preparing": "the preparation of data",
    "downloading": "the download", "saving": "the save", "generating": "the generation", "loading": "the load",
}  # fmt: skip
"""Work as the subject of a sentence."""
_KEEPS = {
    "idle-limit": "what is between the hosts keeps idle connections for {}",
    "short-pause": "the job works where this takes less than {}",
}
_BROKE = lazy_regex(
    r"(?i)connection (?:was )?(?:reset|closed|lost|aborted|timed out)|reset by peer|closed by (?:the )?(?:remote )?peer"
    r"|broken pipe|remote peer|recvValue failed"
)
"""What programs print where a connection that had worked is dead."""
_FAULTS = frozenset({4, 7, 8, 9, 11})
"""Signals of faults and of the OOM killer; SIGABRT follows a lost connection."""
_ENOUGH = 0.9
"""The part of a limit that work takes at least: people round, and the others wait before or after it."""
_WAITED = 0.8
"""The part of the wait during which the work was going on."""
_LIMITED = frozenset({"torch-barrier-timeout", "torch-barrier-missed", "gloo-timeout", "torch-store-timeout"})
"""Messages with the time limit of what was given up; a watchdog's are `Timeout` facts."""
_STEP = "progress-step"
_MINUTE, _HOUR, _DAY = 60, 3600, 86400
_YEARS = 10 * 365 * _DAY
"""A moment before is that of a stamp without a year."""


class Limit(msgspec.Struct, frozen=True):
    """A limit that was reached: its seconds, the fact that says so, and its stamp if it has one."""

    seconds: float
    fact: Fact
    rank: int | None = None
    at: float | None = None
    told: bool = False


class LongWork(msgspec.Struct, frozen=True):
    """Work that lasted as long as a limit that was reached; ``text`` says so."""

    work: Duration
    limit: Limit
    text: str


def longer_than_limit(job: Job, view: View) -> Iterator[Relation]:
    """Work is said, or shown, to take at least as long as the time limit that a collective exceeded."""
    for found in long_works(job, view)[:1]:
        yield Relation(what="longer-than-limit", text=found.text, provenance=lines_of([found.work, found.limit.fact]))


def silent_past_idle_limit(job: Job, _view: View) -> Iterator[Relation]:
    """A connection broke, and a pause or work was longer than idle connections are kept, or than what still works."""
    broken = next((event for event in job.events if _BROKE.search(event.text)), None)
    if broken is None or job.timeouts or any(map(_ends_a_process, job.events)):
        return
    known = (one for one in job.durations if one.of in _KEEPS and one.seconds)
    limits = sorted(known, key=lambda one: one.seconds or 0)
    for limit in limits:
        quiet = [one for one in job.durations if one.of in {"pause", *NOUNS} and _is_past(one.seconds, limit.seconds)]
        if quiet:
            longest = max(quiet, key=lambda one: one.seconds or 0.0)
            what = "a pause" if longest.of == "pause" else NOUNS[longest.of]
            kept = _KEEPS[limit.of].format(_amount(limit.seconds or 0.0))
            text = f"{what} lasts {_amount(longest.seconds or 0.0)}, in which connections are idle; {kept}"
            provenance = lines_of([longest, limit, broken])
            yield Relation(what="silent-past-idle-limit", text=text, provenance=provenance)
            return


def _ends_a_process(event: Event) -> bool:
    """Does the line say why a process ended, so that its peers saw the connection closed?"""
    return event.kind == "cause" or event.fields.get("signal") in _FAULTS


def _is_past(quiet: float | None, limit: float | None) -> bool:
    return quiet is not None and limit is not None and quiet >= limit


def long_works(job: Job, view: View) -> tuple[LongWork, ...]:
    """Work that took as long as a limit of time that others reached meanwhile; what a log shows comes first."""
    return view.remembered(("long works",), lambda: _long_works(job))


def _long_works(job: Job) -> tuple[LongWork, ...]:
    works = [one for one in job.durations if one.of in NOUNS]
    limits = _limits(job) if works else []
    waiting = {limit.rank for limit in limits if limit.rank is not None}
    found = [
        LongWork(work, limit, _text(work, limit, _lasted(work, limit)))
        for work in works
        if work.told or ((work.rank or 0) not in waiting)
        for limit in limits[:1] if work.told or not limit.told
        if _reaches(work, limit) and (work.told or _is_meanwhile(work, limit, job))
    ]  # fmt: skip
    return tuple(sorted(found, key=lambda one: one.work.told))


def _limits(job: Job) -> list[Limit]:
    """The limits that were reached, shortest first; those that people tell only where no message says any."""
    held = [
        Limit(one.timeout_ms / 1000, one, one.rank, one.at)
        for one in job.timeouts if one.timeout_ms and one.signal != "other"
    ]  # fmt: skip
    for event in job.events:
        limit = event.fields.get("timeout_ms")
        if event.event in _LIMITED and isinstance(limit, int) and limit:
            held.append(Limit(limit / 1000, event, event.rank))
    told = [
        Limit(one.seconds, one, told=True) for one in job.durations if one.of == "limit" and one.seconds
    ] if not held else []  # fmt: skip
    return sorted([*held, *told], key=lambda one: one.seconds)


def _reaches(work: Duration, limit: Limit) -> bool:
    lasted = _lasted(work, limit)
    return lasted is not None and lasted >= _ENOUGH * limit.seconds


def _lasted(work: Duration, limit: Limit) -> float | None:
    """How long the work lasted; of what did not end, until the limit was reached."""
    if work.seconds is not None:
        return work.seconds
    moments = _moments(work, limit)
    return None if moments is None else moments[1] - moments[0]


def _moments(work: Duration, limit: Limit) -> tuple[float, float] | None:
    """The moments at which the work began and the limit was reached; None where a stamp of one is missing.

    A stamp may lack its year or its date: then the other is counted without it as well.
    """
    if work.begun is None or limit.at is None:
        return None
    begun, reached = work.begun, limit.at
    if begun < _DAY or reached < _DAY:
        begun, reached = begun % _DAY, reached % _DAY
        return begun, reached if reached >= begun else reached + _DAY
    if begun < _YEARS or reached < _YEARS:
        begun, reached = _in_leap(begun), _in_leap(reached)
    return begun, reached


def _in_leap(moment: float) -> float:
    """The moment in 1972, in which stamps without a year are."""
    found = datetime.fromtimestamp(moment, timezone.utc)
    return found.replace(year=1972).timestamp()


def _is_meanwhile(work: Duration, limit: Limit, job: Job) -> bool:
    """Was the work going on while the others waited? By stamps, else by the lines between both."""
    moments = _moments(work, limit)
    if moments is not None:
        begun, reached = moments
        ended = reached if work.seconds is None else begun + work.seconds
        return min(ended, reached) - max(begun, reached - limit.seconds) >= _WAITED * limit.seconds
    return not _steps_between(job, work, limit.fact)


def _steps_between(job: Job, work: Duration, limit: Fact) -> bool:
    """Was a step counted between the line of the work and that of the limit?"""
    first, last = work.provenance.get(""), limit.provenance.get("")
    if first is None or last is None or first.source != last.source:
        return False
    low, high = sorted((first.line, last.line))
    return any(event.event == _STEP and low < event.order < high for event in job.events)


def _text(work: Duration, limit: Limit, lasted: float | None) -> str:
    noun = NOUNS[work.of]
    of_rank = f" on rank {work.rank}" if work.rank is not None else ""
    if work.seconds is None:
        return f"{noun}{of_rank} had begun {_amount(lasted or 0.0)} before, and its end is not shown"
    return f"{noun}{of_rank} takes {_amount(work.seconds)}"


def _amount(seconds: float) -> str:
    """``687 s``, ``45 min``, ``1.5 h``."""
    for size, unit in ((_HOUR, "h"), (_MINUTE, "min")):
        if seconds >= 2 * size and abs(seconds / size * 10 - round(seconds / size * 10)) < 1e-6:  # noqa: PLR2004
            return f"{seconds / size:g} {unit}"
    return f"{seconds:.0f} s"
