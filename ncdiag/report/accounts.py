"""The account of the communicators of a job, as part of a report and as lines."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import msgspec

from ncdiag.facts.fold import fold_hosts, fold_ranks
from ncdiag.facts.vocabulary.accounts import Entry, are_ends_shown
from ncdiag.language import phrase, say

LISTED = 1000
"""Maximum number of communicators that a report lists; those that are not complete come first."""


class Communicator(msgspec.Struct, frozen=True, kw_only=True):
    """A communicator that ranks began to set up; ``number`` is its place in the order in which they were begun.

    Complete ones that a long log no longer lists (``Job.communicators_unlisted``) are not numbered.

    ``parent`` is the id of the one that it was split from, ``nhosts`` is NCCL's nNodes. Ranks are folded (``0-7,9``):
    those that have ``begun``, that are ``complete``, that began and are ``unfinished``, also by host (``hosts``), and
    that ``never`` began, where the input shows all ranks of the job. ``above`` are the latter in the parent, by host
    (empty for an unknown one), where that is known. ``aborted`` gave it up before they were ready.
    """

    number: int
    id: str
    parent: str | None = None
    nranks: int | None = None
    nhosts: int | None = None
    begun: str = ""
    complete: str = ""
    unfinished: str = ""
    hosts: dict[str, str] = {}
    never: str = ""
    above: dict[str, str] = {}
    aborted: str = ""
    begun_at: float | None = None
    ready_at: float | None = None


class Communicators(msgspec.Struct, frozen=True):
    """``complete`` of ``begun`` communicators are complete; ``listed``: the open ones, then others, in their order.

    ``nodes`` is a sentence on the difference between NCCL's count of nodes and the number of host names, or empty.
    """

    begun: int
    complete: int
    listed: tuple[Communicator, ...] = ()
    nodes: str = ""


def account(entries: tuple[Entry, ...], nodes: str, unlisted: int = 0) -> Communicators | None:
    """The account for the report; None if no communicator was begun, or none was seen to be complete.

    ``unlisted`` more are complete. With ``nodes`` alone it lists no communicator.
    """
    if not are_ends_shown(entries) and not unlisted:
        return Communicators(0, 0, nodes=nodes) if nodes else None
    numbered = sorted(enumerate(entries, 1), key=lambda pair: (not pair[1].is_open, pair[0]))
    listed = tuple(_communicator(number, entry) for number, entry in numbered[:LISTED])
    complete = sum(entry.is_complete for entry in entries)
    return Communicators(len(entries) + unlisted, complete + unlisted, listed, nodes)


def _communicator(number: int, entry: Entry) -> Communicator:
    one = entry.communicator
    by_host: dict[str, list[int]] = defaultdict(list)
    for rank, host in entry.hosts.items():
        if host is not None:
            by_host[host].append(rank)
    places: dict[str, list[int]] = defaultdict(list)
    for rank, host in entry.above.items():
        places[host or ""].append(rank)
    return Communicator(
        number=number, id=one.id, parent=one.parent, nranks=one.nranks, nhosts=one.nhosts,
        begun=fold_ranks(one.ranks_started), complete=fold_ranks(one.ranks_ready),
        unfinished=fold_ranks(entry.hosts), never=fold_ranks(entry.never),
        aborted=fold_ranks(one.ranks_aborted),
        above={host: fold_ranks(ranks) for host, ranks in sorted(places.items())},
        hosts={host: fold_ranks(ranks) for host, ranks in sorted(by_host.items())},
        begun_at=one.begun_at, ready_at=one.ready_at,
    )  # fmt: skip


def is_open(one: Communicator) -> bool:
    """Is a rank of it missing?"""
    return bool(one.unfinished or one.never)


def lines(found: Communicators | None, most: int) -> Iterator[tuple[str, str]]:
    """(label, text) of each line: the count and at most ``most`` communicators that are not complete, then the nodes.

    None if all are complete and NCCL counts as many nodes as there are host names.
    """
    if found is None:
        return
    opened = [one for one in found.listed if is_open(one)]
    if opened:
        counted = say("{n} of {total} communicators are complete", n=found.complete, total=found.begun)
        more = found.begun - found.complete - most
        texts = [counted, *(say("{id}: {text}", id=one.id, text=missing(one)) for one in opened[:most])]
        texts += [say("and {n} more", n=more)] if more > 0 else []
        yield say("Communicators"), say("; ").join(texts)
    if found.nodes:
        yield say("Nodes"), phrase(found.nodes)


def missing(one: Communicator) -> str:
    """The missing ranks of a communicator: ``rank 2 of 4 on srv2 never finished``."""
    texts = []
    if one.never:
        ranks = ranks_text(one.never, one.nranks)
        hosts = [host for host in one.above if host]
        if hosts:
            ranks = say("{ranks} on {hosts}", ranks=ranks, hosts=fold_hosts(hosts))
        texts.append(say("{ranks} never began", ranks=ranks))
    if one.unfinished:
        ranks = ranks_text(one.unfinished, one.nranks)
        place = say("{ranks} on {hosts}", ranks=ranks, hosts=fold_hosts(one.hosts)) if one.hosts else ranks
        texts.append(say("{ranks} never finished", ranks=place))
    return say(", ").join(texts)


def ranks_text(folded: str, total: int | None) -> str:
    """``ranks 0-7 of 8``."""
    ranks = say("rank {ranks}" if folded.isdecimal() else "ranks {ranks}", ranks=folded)
    return ranks if total is None else say("{ranks} of {n}", ranks=ranks, n=total)
