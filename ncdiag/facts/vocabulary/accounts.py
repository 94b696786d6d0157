"""The communicators of a job: which are complete, which ranks of the others are missing, and how NCCL counts nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ncdiag.facts.derived import derived
from ncdiag.facts.fold import fold_hosts, fold_ranks
from ncdiag.facts.model import Communicator, Job
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.communicators import is_said_to_hang, members

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
def is_left_open(communicator: Communicator, view: View) -> bool:
    """Does the job hang, and is this the first communicator that is not complete, while others are?"""
    entries = communicator_account(view.job, view)
    if not are_ends_shown(entries) or not (view.job.timeouts or is_said_to_hang(view.job)):
        return False
    first = next((entry for entry in entries if not entry.is_complete), None)
    return first is not None and first.communicator is communicator


@derived
def open_text(communicator: Communicator, view: View) -> str:
    """The missing ranks: ``rank 2 of 4 on srv2 never finished the setup of communicator 0xc1; 49 others are complete``.

    Empty where none is missing.
    """
    entries = communicator_account(view.job, view)
    entry = next((one for one in entries if one.communicator is communicator and not one.is_complete), None)
    if entry is None:
        return ""
    hosts = {host for host in entry.hosts.values() if host is not None}
    place = f" on {fold_hosts(hosts)}" if hosts else ""
    name, texts = communicator.id, list[str]()
    if entry.hosts:
        texts.append(f"{_ranks(entry.hosts, communicator)}{place} never finished the setup of communicator {name}")
    if entry.never:
        texts.append(f"{_ranks(entry.never, communicator)} never began the setup of communicator {name}")
    complete = sum(one.is_complete for one in entries)
    if complete:
        texts.append("another one is complete" if complete == 1 else f"{complete} others are complete")
    return "; ".join(texts)


def _ranks(ranks: Iterable[int], communicator: Communicator) -> str:
    folded = fold_ranks(ranks)
    word = "rank" if folded.isdecimal() else "ranks"
    return f"{word} {folded}" + (f" of {communicator.nranks}" if communicator.nranks is not None else "")


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
