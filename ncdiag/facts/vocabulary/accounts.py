"""The communicators of a job: which are complete, which ranks of the others are missing, and how NCCL counts nodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ncdiag.facts.derived import derived
from ncdiag.facts.fold import fold_hosts
from ncdiag.facts.model import Communicator, Job
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.communicators import members

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


@derived
def node_count_text(job: Job, view: View) -> str:
    """Why NCCL's count of nodes differs from the number of host names; empty where it does not, or is unknown.

    NCCL counts the ranks as one node that its topology joins: those with the same hash of host name and boot id, or the
    same NCCL_HOSTID, or in one NVLink domain; GPUs of a host between which neither P2P nor shared memory works are
    separate nodes (init.cc, misc/utils.cc, graph/paths.cc).
    """
    world = max(job.communicators, key=lambda one: one.nranks or 0, default=None)
    ranks = members(world, view) if world is not None else ()
    if world is None or world.nhosts is None or len({rank.rank for rank in ranks}) != world.nranks:
        return ""
    hosts = {rank.host for rank in ranks}
    if len(hosts) == world.nhosts:
        return ""
    ids = {setting.text for rank in ranks if (setting := rank.settings.get("NCCL_HOSTID")) is not None}
    if len(hosts) > world.nhosts:
        reason = _why_fewer(job, ids)
    elif ids:
        reason = "NCCL_HOSTID is set, and ranks with different values are different nodes"
    else:
        reason = (
            "machines with one host name are different nodes, and so are GPUs of a host between which neither P2P nor "
            "shared memory works (other containers, or only pairs joined by NVLink)"
        )
    return f"NCCL counts {world.nhosts} for {len(hosts)} host names ({fold_hosts(hosts)}): {reason}"


def _why_fewer(job: Job, ids: set[str | None]) -> str:
    if any(event.event == "comm-nodes" and event.fields.get("mnnvl") == 1 for event in job.events):
        return "an NVLink domain over several hosts is one node (MNNVL 1)"
    if len(ids) == 1:
        return "NCCL_HOSTID is the same on several hosts, which makes them one node"
    return "hosts with the same NCCL_HOSTID, or in one NVLink domain, are one node"
