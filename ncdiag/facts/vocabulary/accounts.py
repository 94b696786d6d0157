"""The communicators of a job: which are complete, and which ranks of the others are missing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import pairwise
from typing import NamedTuple

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Communicator, Job
from ncdiag.facts.view import View

_MOST_RANKS = 1 << 17
"""The largest size of a communicator for which missing ranks are listed individually."""

_DEPTH = 8
"""Splits of splits that are followed."""
_STEPS_SHOW = 3
"""The ranks whose places in the parent show in which steps the ranks of a communicator were taken from it."""


class Entry(NamedTuple):
    """A communicator that ranks began to set up: ``hosts`` of the ranks that did not finish, by rank (None: unknown).

    ``never``: the ranks that did not begin, where the input shows all ranks of the job; ``above``: what these are in
    the parent, and the host of each, where the other parts of the split or the order of its ranks show it.
    """

    communicator: Communicator
    hosts: Mapping[int, str | None]
    never: tuple[int, ...]
    above: Mapping[int, str | None] = {}

    @property
    def is_open(self) -> bool:
        """Do ranks wait in its set-up, as far as they are in the input?"""
        return bool(self.hosts or self.never)

    @property
    def is_complete(self) -> bool:
        """Did all its ranks complete the set-up, as far as they are in the input?"""
        return not self.is_open and not self.communicator.ranks_aborted


@derived
def communicator_account(job: Job, view: View) -> tuple[Entry, ...]:
    """The communicators that ranks began to set up, in the order of their first lines."""
    begun = [one for one in job.communicators if one.ranks_started or one.ranks_ready]
    size = max((one.nranks or 0 for one in begun), default=0)
    is_whole = size > 0 and any(one.nranks == size and len(one.ranks_started) >= size for one in begun)
    if job.communicators_unlisted:  # what one file no longer lists, another one may: its ranks may have begun
        is_whole = is_whole and len({span.source for rank in job.ranks if (span := rank.provenance.get(""))}) == 1
    entries = tuple(_entry(one, is_whole=is_whole) for one in begun)
    return _with_places(entries, job) if any(entry.never for entry in entries) else entries


def _entry(one: Communicator, *, is_whole: bool) -> Entry:
    ready = {*one.ranks_ready, *one.ranks_aborted}
    unfinished = {rank: one.open_on.get(str(rank)) for rank in one.ranks_started if rank not in ready}
    never: tuple[int, ...] = ()
    waits = unfinished or not one.ranks_aborted  # nobody waits for the rest of one that was given up
    if waits and is_whole and one.nranks is not None and len(one.ranks_started) < one.nranks <= _MOST_RANKS:
        begun = {*one.ranks_started, *one.ranks_ready}
        never = tuple(rank for rank in range(one.nranks) if rank not in begun)
    return Entry(one, unfinished, never)


def _with_places(entries: tuple[Entry, ...], job: Job) -> tuple[Entry, ...]:
    """The entries, with the ranks of the parent that did not begin in each."""
    named = {entry.communicator.id: entry.communicator for entry in entries}
    widest = max(named.values(), key=lambda one: (one.nranks or 0, len(one.ranks_started)))
    splits: dict[tuple[str, int | str], list[Entry]] = defaultdict(list)
    for entry in entries:
        one, parent = entry.communicator, entry.communicator.parent or widest.id
        if parent in named and one is not widest and one.ranks_above:  # without a number it is a part for itself
            splits[parent, one.id if one.split is None else one.split].append(entry)
    hosts = _Hosts(named, {rank.rank: rank.host for rank in job.ranks if rank.rank is not None}, widest.nranks or 0)
    found: dict[str, Mapping[int, str | None]] = {}
    for (parent, _), parts in splits.items():
        began = {above for part in parts for above in part.communicator.ranks_above.values()}
        rest = set(named[parent].ranks_started) - began
        late = [part for part in parts if part.never]
        for part in late:
            above = rest if len(late) == 1 and len(rest) == len(part.never) else _in_order(part, rest)
            if len(above) == len(part.never):
                found[part.communicator.id] = {rank: hosts.of(parent, rank) for rank in sorted(above)}
    return tuple(entry._replace(above=found.get(entry.communicator.id, {})) for entry in entries)


class _Hosts(NamedTuple):
    """The communicators by name, the hosts of the ranks in the job, and the number of these."""

    named: Mapping[str, Communicator]
    hosts: Mapping[int, str]
    size: int

    def of(self, name: str, rank: int) -> str | None:
        """The host of a rank of a communicator, by its rank in what that was split from, up to one of all ranks."""
        for _ in range(_DEPTH):
            one = self.named.get(name)
            if one is None or one.nranks == self.size:
                return self.hosts.get(rank) if one is not None else None
            if one.parent is None or str(rank) not in one.ranks_above:
                return None
            name, rank = one.parent, one.ranks_above[str(rank)]
        return None


def _in_order(entry: Entry, rest: AbstractSet[int]) -> set[int]:
    """The ranks of the parent, of the ``rest``, that the missing ones have, where ranks and those above grow alike.

    Those between the neighbors of a gap, if there are as many; else those at which equal steps of the others point (0,
    2, 4: 6).
    """
    places = sorted((int(rank), above) for rank, above in entry.communicator.ranks_above.items())
    if len(places) < _STEPS_SHOW or any(a[1] >= b[1] for a, b in pairwise(places)):
        return set()
    found: set[int] = set()
    ends = [(-1, -1), *places, (entry.communicator.nranks or 0, max(rest, default=0) + 1)]
    step = _step(places)
    for (rank, above), (following, highest) in pairwise(ends):
        gone = following - rank - 1
        between = {one for one in rest if above < one < highest}
        if gone and len(between) != gone and step:
            first = places[0]
            between = {first[1] + (rank + n - first[0]) * step for n in range(1, gone + 1)} & rest
        found |= between if gone and len(between) == gone else set()
    return found


def _step(places: Sequence[tuple[int, int]]) -> int:
    """By how much the rank in the parent grows from rank to rank; 0 where it does not do so evenly."""
    (low, first), (high, last) = places[0], places[-1]
    step, left = divmod(last - first, high - low)
    return 0 if left or any(above != first + (rank - low) * step for rank, above in places) else step


def are_ends_shown(entries: tuple[Entry, ...]) -> bool:
    """Does the input show that a set-up completed, so that the end of another one is missing and not left out?"""
    return any(entry.communicator.ranks_ready for entry in entries)
