"""The masters that ranks tried to reach, or print at their start, for a job of which no launch line is in the input.

Ranks of one job that look for their store on different hosts show that each host names itself. Two tries, or two jobs,
look for different masters as well: those come from the same process, or at another time.
"""

from __future__ import annotations

import calendar
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import combinations

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Event, Job
from ncdiag.facts.scalars import ip_address
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.addresses import STORE_UNREACHED

_NETWORK = lazy_regex(r"-(?:ib|ipoib|roce|eth|hsn|opa)\d{0,2}$")
"""The end of a name that a host has on another of its networks: ``node0-ib``, ``n1-hsn0``."""
_LABEL = lazy_regex(r"\s{0,4}(\d{1,6}): ")
"""The number of the task before a line (srun --label)."""
_STAMP = lazy_regex(r"\[?[IWEF](\d{1,2})(\d\d) (\d\d):(\d\d):(\d\d)\b")
"""The head of a line of PyTorch's logger, which has no year: ``[W302 11:04:51.000000000 socket.cpp:752]``."""
_GIVEN = "meeting-place-given"
_YEAR = 1972
"""A leap year."""
_SEVERAL = 2
_WINDOW = 600.0
"""Seconds between lines that may be of one start: ranks wait for minutes before they give up."""
_MOMENT = 30.0
"""Seconds between lines of one start: the next one begins when the waiting ranks of the first have given up."""
_BLOCK = 20
"""Lines between two lines without a time that may be of one start."""


def sought(job: Job) -> Mapping[str, Sequence[Event]]:
    """The lines by the master that they name, at one port; empty for fewer than two masters.

    Names and addresses are not compared with each other: one host may have both.
    """
    masters: dict[tuple[object, bool], dict[str, list[Event]]] = defaultdict(lambda: defaultdict(list))
    for event in job.events:
        host = _named_by(event)
        if not host or is_own(host):
            continue
        is_address = ip_address(host) is not None
        name = host if is_address else _NETWORK.sub("", host.partition(".")[0].lower())
        masters[event.fields.get("port"), is_address][name].append(event)
    return next((held for held in masters.values() if len(held) >= _SEVERAL), {})


def _named_by(event: Event) -> str:
    """The master that a process could not reach, or that a known host was started with; empty for other lines."""
    if event.event in STORE_UNREACHED:
        return str(event.fields.get("peer_host") or "")
    return str(event.fields["given"]) if event.event == _GIVEN and event.host else ""


def is_own(text: str) -> bool:
    """Is it an address of the host itself, such as localhost?"""
    address = ip_address(text)
    return text == "localhost" or (address is not None and (address.is_loopback or address.is_unspecified))


def sought_text(job: Job, view: View) -> str | None:
    """The different masters that ranks tried to reach, ``n1, n2``; None for fewer than two."""
    held = sought(job)
    for events in held.values():
        view.note(events[0], "")
    return ", ".join(sorted(held)) or None


@derived
def masters_of_two_tries(job: Job, view: View) -> bool | None:
    """Are the masters that ranks tried to reach those of two tries or of two jobs? None where no line shows it."""
    held = list(sought(job).values())
    seekers = [{_seeker(event) for event in events} for events in held]
    if _are_together(held):
        return False
    known = [found - {None} for found in seekers]
    if sum(map(len, known)) > len(set().union(*known)) or _are_apart(held):
        return True
    return None if any(None in found for found in seekers) else False


def _are_together(held: Sequence[Sequence[Event]]) -> bool:
    """Are all masters looked for within seconds, while one process waits for its master for minutes?"""
    times = [_times(events) for events in held]
    span = _span(times)
    if span is not None and span < _MOMENT:
        return True
    near = (
        [abs(a - b) for a, of in one for b, by in other if of == by] for one, other in combinations(times, 2)
    )  # fmt: skip
    return all(found and min(found) < _MOMENT for found in near)


def _times(events: Iterable[Event]) -> AbstractSet[tuple[float, bool]]:
    return {time for event in events if (time := _time(event)) is not None}


def _span(times: Sequence[AbstractSet[tuple[float, bool]]]) -> float | None:
    """The seconds between the first and the last line; None if a master has no time, or if not all dates have a year.

    Where it is short, no two masters need to be compared.
    """
    every = [time for found in times for time in found]
    if not all(times) or len({has_year for _, has_year in every}) != 1:
        return None
    return max(every)[0] - min(every)[0]


def _seeker(event: Event) -> tuple[str | None, str] | None:
    """The process that printed the line, by its host or the number before the line; None where neither is shown."""
    label = _LABEL.match(_line(event))
    number = label[1] if label is not None else "" if event.rank is None else str(event.rank)
    return (event.host, number) if event.host or number else None


def _line(event: Event) -> str:
    span = event.provenance.get("")
    return span.text if span is not None else event.text


def _are_apart(held: Sequence[Sequence[Event]]) -> bool:
    """Is there more time between two masters than one start takes, or more lines where these have no time?"""
    times = [_times(events) for events in held]
    span = _span(times)
    if span is not None and span <= _WINDOW:
        return False
    are_named = [all(map(_seeker, events)) for events in held]
    for one, other in combinations(range(len(held)), 2):
        if times[one] and times[other]:
            if _least((a, b) for a, of in times[one] for b, by in times[other] if of == by) > _WINDOW:
                return True
        elif not (are_named[one] and are_named[other]):
            places = ((a.provenance.get(""), b.provenance.get("")) for a in held[one] for b in held[other])
            lines = [(a.line, b.line) for a, b in places if a and b and a.source == b.source]
            if lines and _least(lines) > _BLOCK:
                return True
    return False


def _time(event: Event) -> tuple[float, bool] | None:
    """Seconds, and are they since the epoch? Else they are those of a head without a year."""
    if event.time is not None:
        return event.time, True
    found = _STAMP.search(_line(event))
    if found is None:
        return None
    month, day, hour, minute, second = map(int, found.groups())
    return float(calendar.timegm((_YEAR, max(1, min(month, 12)), day, hour, minute, second))), False


def _least(pairs: Iterable[tuple[float, float]]) -> float:
    return min((abs(one - other) for one, other in pairs), default=0.0)
