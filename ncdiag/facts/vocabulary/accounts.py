"""The communicators of a job: which are complete, and which ranks of the others are missing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Communicator, Job
from ncdiag.facts.view import View

_MOST_RANKS = 1 << 17
"""The largest size of a communicator for which missing ranks are listed individually."""

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
    def is_complete(self) -> bool:
        """Did all its ranks complete the set-up, as far as they are in the input?"""
        return not self.hosts and not self.never


@derived
def communicator_account(job: Job, view: View) -> tuple[Entry, ...]:
    """The communicators that ranks began to set up, in the order of their first lines."""
    begun = [one for one in job.communicators if one.ranks_started or one.ranks_ready]
    largest = max(begun, key=lambda one: one.nranks or 0, default=None)
    is_whole = largest is not None and largest.nranks is not None and len(largest.ranks_started) >= largest.nranks
    if job.communicators_unlisted:  # what one file no longer lists, another one may: its ranks may have begun
        is_whole = is_whole and len({span.source for rank in job.ranks if (span := rank.provenance.get(""))}) == 1
    entries = tuple(_entry(one, is_whole=is_whole) for one in begun)
    return _with_places(entries, job) if any(entry.never for entry in entries) else entries


def _entry(one: Communicator, *, is_whole: bool) -> Entry:
    ready = set(one.ranks_ready)
    unfinished = {rank: one.open_on.get(str(rank)) for rank in one.ranks_started if rank not in ready}
    never: tuple[int, ...] = ()
    if is_whole and one.nranks is not None and len(one.ranks_started) < one.nranks <= _MOST_RANKS:
        begun = {*one.ranks_started, *one.ranks_ready}
        never = tuple(rank for rank in range(one.nranks) if rank not in begun)
    return Entry(one, unfinished, never)


def _with_places(entries: tuple[Entry, ...], job: Job) -> tuple[Entry, ...]:
    """The entries, with the ranks of the parent that did not begin in each."""
    named = {entry.communicator.id: entry.communicator for entry in entries}
    splits: dict[tuple[str, int], list[Entry]] = defaultdict(list)
    for entry in entries:
        one = entry.communicator
        if one.parent in named and one.split is not None and one.ranks_above:
            splits[one.parent, one.split].append(entry)
    hosts = {(rank.communicator, rank.rank): rank.host for rank in job.ranks}
    found: dict[str, Mapping[int, str | None]] = {}
    for (parent, _), parts in splits.items():
        began = {above for part in parts for above in part.communicator.ranks_above.values()}
        rest = set(named[parent].ranks_started) - began
        late = [part for part in parts if part.never]
        for part in late:
            above = rest if len(late) == 1 and len(rest) == len(part.never) else _in_order(part) & rest
            if len(above) == len(part.never):
                found[part.communicator.id] = {rank: hosts.get((parent, rank)) for rank in sorted(above)}
    return tuple(entry._replace(above=found.get(entry.communicator.id, {})) for entry in entries)


def _in_order(entry: Entry) -> set[int]:
    """The ranks of the parent that the missing ones have, where the others are in equal steps (0, 2, 4: 6)."""
    ranks = sorted((int(rank), above) for rank, above in entry.communicator.ranks_above.items())
    if len(ranks) < _STEPS_SHOW:
        return set()
    (low, first), (high, last) = ranks[0], ranks[-1]
    step, left = divmod(last - first, high - low)
    if left or step <= 0 or any(above != first + (rank - low) * step for rank, above in ranks):
        return set()
    return {first + (rank - low) * step for rank in entry.never}


def are_ends_shown(entries: tuple[Entry, ...]) -> bool:
    """Does the input show that a set-up completed, so that the end of another one is missing and not left out?"""
    return any(entry.communicator.ranks_ready for entry in entries)
