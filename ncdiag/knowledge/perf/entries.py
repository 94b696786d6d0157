"""A rank that is slow, by the times at which ranks called the collectives of one communicator.

Only ranks that make the same calls are compared: the stages of a pipeline make others, and one stage is later than the
one before it. In each of twenty equal parts of the log, the delays of a rank behind the first of its peers are added
up, less what clocks that differ explain. Delays below a millisecond are usual. Of each rank, the communicator with most
calls is known: in the others it waits for what happens in that one.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from statistics import median

import msgspec

from ncdiag.facts.model import CallTimes, StepAccount
from ncdiag.facts.view import View

_PARTS = 20
_LEAST = 3
"""Parts in which the rank must be the late one; a checkpoint or the first steps fill one or two."""
_SHARE = 0.1
"""Minimum share of a part that the delays of the late rank add up to."""
_AHEAD = 1.5
"""Minimum ratio of its delays to those of the next rank."""
_USUAL = 1000
"""Delay in microseconds that does not count."""
_UNEVEN = 3
"""Part of its delays that a late rank has beyond those of its earliest calls, as the divisor."""
_CALLS = 64
"""Minimum number of calls to compare."""
_ALIKE = 0.9
"""Minimum share of calls with the same number and kind of two ranks that are peers."""
_GAP = 10
"""Ratio of the gap between two stages of a pipeline to the usual gap between ranks."""


class _Timed(msgspec.Struct):
    """The calls of one rank: kind and microseconds since the epoch, by number."""

    fact: CallTimes
    kinds: dict[int, str]
    times: dict[int, int]


def enters_late(view: View) -> StepAccount | None:
    """The one rank that calls collectives later than its peers; None where none does, or several do."""
    groups = [group for group in _groups(view.job.call_times) if len(group) > 1]
    if not groups:
        return None
    ranks = [one for group in groups for one in group.values()]
    spans: dict[int, list[int]] = defaultdict(list)
    for one in ranks:
        spans[one.fact.rank] += (min(one.times.values()), max(one.times.values()))
    begin, end = max(map(min, spans.values())), min(map(max, spans.values()))
    part = (end - begin) // _PARTS
    if part <= 0:
        return None
    delays = [Counter[int]() for _ in range(_PARTS)]
    for group in groups:
        _add(group, begin, part, delays)
    led: dict[int, list[float]] = defaultdict(list)
    for found in delays:
        (rank, most), (_, second) = [*found.most_common(2), (-1, 0), (-1, 0)][:2]
        if most >= _SHARE * part and most >= _AHEAD * second:
            led[rank].append(most / part)
    late = max(led, key=lambda rank: len(led[rank]), default=None)
    if late is None or len(led[late]) < _LEAST or sum(map(len, led.values())) > _AHEAD * len(led[late]):
        return None
    shares = sorted(led[late])
    text = (
        f"Rank {late} is slow: in {len(shares)} of {_PARTS} equal parts of the logs it calls collectives later than "
        f"its peers, which wait for {shares[0]:.0%} to {shares[-1]:.0%} of the time"
    )
    fact = next(one.fact for one in ranks if one.fact.rank == late)
    return StepAccount(what="enters-late", text=text, rank=late, provenance=fact.provenance)


def _groups(facts: Sequence[CallTimes]) -> Iterator[dict[int, _Timed]]:
    """The ranks of each communicator: by its number, or those that make the same calls in the same place."""
    places: dict[tuple[str | None, int], list[_Timed]] = defaultdict(list)
    for fact in {fact.rank: fact for fact in facts}.values():
        moments = itertools.accumulate(fact.times, initial=fact.begin * 10**6)
        calls = list(zip(fact.numbers, fact.calls, itertools.islice(moments, 1, None), strict=False))
        if len(calls) >= _CALLS:
            kinds = {number: _kind(fact, letter) for number, letter, _ in calls}
            times = {number: time for number, _, time in calls}
            place = (fact.group, 0) if fact.group else (None, fact.stream)
            places[place].append(_Timed(fact, kinds, times))
    for (number, _), found in places.items():
        for alike in [found] if number else _alike(found):
            group = {one.fact.rank: one for one in alike}
            yield from [group] if number or not any(one.fact.pairs for one in alike) else _stages(group)


def _kind(fact: CallTimes, letter: str) -> str:
    place = ord(letter) - ord("a") if letter.islower() else 26 + ord(letter) - ord("A")
    return fact.kinds[place] if 0 <= place < len(fact.kinds) else ""


def _alike(found: Sequence[_Timed]) -> list[list[_Timed]]:
    """The ranks in sets that make the same calls."""
    sets: list[list[_Timed]] = []
    for one in found:
        for other in sets:
            first = other[0]
            stride = max(one.fact.stride, first.fact.stride)
            own, its = ({n: k for n, k in each.kinds.items() if n % stride == 0} for each in (one, first))
            same = sum(its.get(number) == kind for number, kind in own.items())
            if same >= _ALIKE * max(len(own), len(its)):
                other.append(one)
                break
        else:
            sets.append([one])
    return sets


def _stages(group: Mapping[int, _Timed]) -> list[dict[int, _Timed]]:
    """The stages of a pipeline whose ranks make the same calls: as many ranks in each, which call together.

    Nothing if the sets have other sizes: then nobody knows who waits for whom.
    """
    rest, sets = dict(group), []
    while rest:
        first = next(iter(rest.values()))
        apart = {rank: _apart(first, one) for rank, one in rest.items()}
        order = sorted(rest, key=lambda rank: apart[rank])
        far = (n for n, rank in enumerate(order) if n and apart[rank] > _GAP * max(apart[order[n - 1]], _USUAL / 2))
        sets.append({rank: rest.pop(rank) for rank in order[: next(far, len(order))]})
    return sets if len({len(ranks) for ranks in sets}) == 1 else []


def _apart(first: _Timed, other: _Timed) -> float:
    """The usual time between the same call of two ranks, in microseconds, whoever is first."""
    return median([abs(time - first.times[n]) for n, time in other.times.items() if n in first.times] or [0])


def _add(group: Mapping[int, _Timed], begin: int, part: int, delays: Sequence[Counter[int]]) -> None:
    """Add the delays of each rank behind the first of the group, in microseconds, to the part in which they were.

    A clock that is ahead delays all calls alike, and one that drifts all calls of a part: such delays do not count.
    """
    stride = max(one.fact.stride for one in group.values())
    common = set.intersection(*({n for n in one.times if n % stride == 0} for one in group.values()))
    parts: dict[int, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for number in common:
        first = min(one.times[number] for one in group.values())
        place = (first - begin) // part
        if 0 <= place < len(delays):
            for rank, one in group.items():
                parts[place][rank].append(one.times[number] - first)
    ahead = {rank: _least([delay for ranks in parts.values() for delay in ranks[rank]]) for rank in group}
    for place, ranks in parts.items():
        for rank, found in ranks.items():
            whole, uneven = _beyond(found, ahead[rank]), _beyond(found, _least(found))
            if uneven * _UNEVEN >= whole:
                delays[place][rank] += stride * whole


def _least(delays: Sequence[int]) -> int:
    """The delay of the tenth of the calls that are earliest."""
    return sorted(delays)[len(delays) // 10] if delays else 0


def _beyond(delays: Sequence[int], usual: int) -> int:
    return sum(delay - usual - _USUAL for delay in delays if delay > usual + _USUAL)
