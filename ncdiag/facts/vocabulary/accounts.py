"""The communicators of a job: which are complete, and which ranks of the others are missing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Communicator, Job
from ncdiag.facts.view import View

_MOST_RANKS = 1 << 17
"""The largest size of a communicator for which missing ranks are listed individually."""


class Entry(NamedTuple):
    """A communicator that ranks began to set up: ``hosts`` of the ranks that did not finish, by rank (None: unknown).

    ``never``: the ranks that did not begin, where the input shows all ranks of the job.
    """

    communicator: Communicator
    hosts: Mapping[int, str | None]
    never: tuple[int, ...]

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
    return tuple(_entry(one, is_whole=is_whole) for one in begun)


def _entry(one: Communicator, *, is_whole: bool) -> Entry:
    ready = set(one.ranks_ready)
    unfinished = {rank: one.open_on.get(str(rank)) for rank in one.ranks_started if rank not in ready}
    never: tuple[int, ...] = ()
    if is_whole and one.nranks is not None and len(one.ranks_started) < one.nranks <= _MOST_RANKS:
        begun = {*one.ranks_started, *one.ranks_ready}
        never = tuple(rank for rank in range(one.nranks) if rank not in begun)
    return Entry(one, unfinished, never)


def are_ends_shown(entries: tuple[Entry, ...]) -> bool:
    """Does the input show that a set-up completed, so that the end of another one is missing and not left out?"""
    return any(entry.communicator.ranks_ready for entry in entries)
