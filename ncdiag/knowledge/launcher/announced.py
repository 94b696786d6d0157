"""Rank numbers that processes announce before they meet: which ones, how often, and out of how many."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived
from ncdiag.facts.fold import fold_ranks
from ncdiag.facts.model import FAILURES, Event, Fact, Job
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.outcome import went_on
from ncdiag.facts.vocabulary.places import place
from ncdiag.knowledge.launcher.starts import starts, wrong_host_number

ANNOUNCED = "rank-announced"
_ALL_JOINED = "ranks-all-joined"
_NUMBER = lazy_regex(r"\d{1,9}")
_COUNTS = {"RANK": "WORLD_SIZE", "NODE_RANK": "NNODES", "LOCAL_RANK": "LOCAL_WORLD_SIZE"}
"""Variables with the number of a process or node, and those with the number of all."""


@derived
def misnumbered(job: Job, view: View) -> tuple[Event, ...]:
    """Wrong numbers of ranks and hosts: an event with a sentence for each fault."""
    found = []
    text = wrong_host_number(job, view)
    if text:
        first = next(la for la in starts(job, view) if la.node_rank is not None)
        found.append(Event(event=ANNOUNCED, origin="launcher", kind="cause", text=text, provenance=first.provenance))
    for fact, text in _given(job):
        found.append(Event(event=ANNOUNCED, origin="launcher", kind="cause", text=text, provenance=fact.provenance))
    for size, events in _by_size(job).items():
        text = _wrong(events, size, view)
        if text:
            found.append(
                Event(event=ANNOUNCED, origin="torch", kind="cause", text=text, provenance=events[0].provenance)
            )
    return tuple(found)


def _given(job: Job) -> Iterator[tuple[Fact, str]]:
    """Numbers that the environment or a program gives to a process, and that are not below the number of all."""
    numbers = {
        (setting.host, setting.name): setting for setting in job.settings if _NUMBER.fullmatch(setting.text or "")
    }
    for (host, name), setting in numbers.items():
        total = numbers.get((host, _COUNTS.get(name, "")))
        if total is not None and int(setting.text or 0) >= int(total.text or 0) > 0:
            yield setting, f"{name} is {setting.text} of {total.text}, which are counted from 0"
    for fault in job.script_faults:
        if fault.kind == "rank-outside":
            yield fault, f"The program gives {fault.call} a rank that is not below its number of ranks"


@derived
def unannounced(job: Job, view: View) -> str:
    """The ranks that never announced themselves, where others of the job did: ``4-7 of 8``; empty for none."""
    met = {event.fields.get("world_size") for event in job.events if event.event == _ALL_JOINED}
    for size, events in _by_size(job).items():
        if size in met:
            continue
        came = {event.rank for event in events}
        never = sorted(set(range(size)) - came)
        if never and came and not view.job.ranks and not any(went_on(event, view) for event in events):
            view.note(events[0])
            return f"{fold_ranks(never)} of {size}"
    return ""


def _by_size(job: Job) -> dict[int, list[Event]]:
    """The announcements by the number of ranks, taken from another line where their own does not have it."""
    sizes = {size for event in job.events if isinstance(size := event.fields.get("world_size"), int)}
    found: dict[int, list[Event]] = defaultdict(list)
    for event in job.events:
        size = event.fields.get("world_size", next(iter(sizes)) if len(sizes) == 1 else None)
        if event.event == ANNOUNCED and event.rank is not None and isinstance(size, int):
            found[size].append(event)
    return found


def _wrong(events: Sequence[Event], size: int, view: View) -> str:
    """The fault, ``Ranks 0-3 of 8 came twice and 4-7 never``, or a number that is too high; empty without a fault.

    As many announcements as the job has ranks, each number equally often, mean that hosts were given the same numbers.
    A job that was restarted, or an output that is shown twice, has all numbers, or continues.
    """
    came = Counter(event.rank or 0 for event in events)
    if max(came) >= size:
        return f"Rank {max(came)} announces itself in a job of {size}, whose ranks are counted from 0"
    times = set(came.values())
    if len(times) != 1 or times == {1} or sum(came.values()) != size or _met(events, came, view):
        return ""
    often = times.pop()
    never = fold_ranks(sorted(set(range(size)) - set(came)))
    word = "twice" if often == 2 else f"{often} times"  # noqa: PLR2004
    return (
        f"Ranks {fold_ranks(sorted(came))} of {size} came {word} and {never} never: several hosts have the same number"
    )


def _met(events: Sequence[Event], came: Counter[int], view: View) -> bool:
    """Did the job continue, reach NCCL with other ranks, or fail and restart between the announcements?"""
    if any(went_on(event, view) for event in events) or {rank.rank for rank in view.job.ranks} - set(came) - {None}:
        return True
    places = sorted(at for event in events if (at := place(event)))
    ends = (place(event) for event in view.job.events if event.kind in FAILURES)
    return any(at is not None and places[0] < at < places[-1] and at[0] == places[0][0] for at in ends)
