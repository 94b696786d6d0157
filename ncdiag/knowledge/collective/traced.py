"""Ranks that made no call any more while others went on, by Megatrace's logs of a job that hangs.

The host calls collectives ahead of the GPU, so that each rank has its own last call. A rank that waits for others goes
on calling until it needs a result; the one that they wait for stopped before. Logs of a job that does not hang end
wherever they were cut.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from ncdiag.facts.fold import fold_ranks
from ncdiag.facts.model import CallTimes, Difference, Job
from ncdiag.facts.vocabulary.communicators import is_said_to_hang

_SHARED, _ALIKE = 2, 0.9
"""Calls that two ranks must have in common at least to be peers, and the share of these that must be the same."""


def traced_waits(job: Job) -> Iterator[Difference]:
    """The first call of each communicator that most of its ranks made and few did not, in a job that hangs."""
    if not (is_said_to_hang(job) or job.timeouts):
        return
    for called in _groups(job.call_times):
        stride = max(fact.stride for fact in called)
        last = {fact.rank: number for fact in called if (number := _last(fact, stride)) is not None}
        group = [fact for fact in called if fact.rank in last]
        if not last:
            continue
        first, most = min(last.values()), max(last.values())
        late = [rank for rank, number in last.items() if number == first]
        ahead = [fact for fact in group if last[fact.rank] > first]
        if most - first < stride or len(late) >= len(ahead):
            continue
        number = min(each for fact in ahead for each in fact.numbers if each > first)
        kind = next((kind for fact in ahead if (kind := _kinds(fact).get(number))), None)
        if kind is None:
            continue
        waiting = [fact.rank for fact in ahead]
        shown = [fact for fact in group if fact.rank in late] + ahead[:1]
        yield Difference(
            what="wait", name=f"{kind.partition(' ')[0]} opCount {number}",
            groups={"waiting": _named(waiting), "late": f"{_named(late)} (last call: opCount {first})"},
            provenance={str(n or ""): fact.provenance[""] for n, fact in enumerate(shown) if "" in fact.provenance},
        )  # fmt: skip


def _groups(facts: Sequence[CallTimes]) -> Iterator[list[CallTimes]]:
    """The ranks of each communicator: by its number, or those that make the same calls in the same place."""
    places: dict[tuple[str | None, int], list[CallTimes]] = defaultdict(list)
    for fact in {fact.rank: fact for fact in facts if fact.numbers}.values():
        places[(fact.group, 0) if fact.group else (None, fact.stream)].append(fact)
    for (number, _), found in places.items():
        sets: list[list[CallTimes]] = []
        for fact in found:
            own = next((each for each in sets if number or _are_peers(each[0], fact)), None)
            if own is None:
                sets.append([fact])
            else:
                own.append(fact)
        yield from (each for each in sets if len(each) > 1)


def _are_peers(one: CallTimes, other: CallTimes) -> bool:
    mine, its = _kinds(one), _kinds(other)
    both = mine.keys() & its.keys()
    return len(both) >= _SHARED and sum(mine[n] == its[n] for n in both) >= _ALIKE * len(both)


def _kinds(fact: CallTimes) -> dict[int, str]:
    """Operation and size of each call, by its number."""
    letters = {chr(ord("a") + n) if n < 26 else chr(ord("A") + n - 26): kind for n, kind in enumerate(fact.kinds)}  # noqa: PLR2004
    return {number: letters.get(letter, "") for number, letter in zip(fact.numbers, fact.calls, strict=False)}


def _last(fact: CallTimes, stride: int) -> int | None:
    """The number of the last call that is a multiple of the stride; None where no such call is known."""
    return max((number for number in fact.numbers if number % stride == 0), default=None)


def _named(ranks: Sequence[int]) -> str:
    return f"{'rank' if len(ranks) == 1 else 'ranks'} {fold_ranks(ranks)}"
