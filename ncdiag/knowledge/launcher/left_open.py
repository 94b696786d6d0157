"""A communicator that stays incomplete while others are complete."""

from __future__ import annotations

from collections.abc import Iterable

from ncdiag.facts.derived import derived
from ncdiag.facts.fold import fold_hosts, fold_ranks
from ncdiag.facts.model import Communicator
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.accounts import Entry, are_ends_shown, communicator_account
from ncdiag.facts.vocabulary.communicators import is_said_to_hang


@derived
def is_left_open(communicator: Communicator, view: View) -> bool:
    """Does the job hang, and is this the first communicator that is not complete, while others are?"""
    if not (view.job.timeouts or is_said_to_hang(view.job)):
        return False
    return communicator is view.remembered(("first open communicator",), lambda: _first_open(view))


def _first_open(view: View) -> Communicator | None:
    """The first communicator that is not complete; None where the log shows no ends of set-ups."""
    entries = communicator_account(view.job, view)
    if not are_ends_shown(entries):
        return None
    return next((entry.communicator for entry in entries if entry.is_open), None)


@derived
def open_text(communicator: Communicator, view: View) -> str:
    """The missing ranks: ``rank 2 of 4 on srv2 never finished the setup of communicator 0xc1; 49 others are complete``.

    Empty where none is missing.
    """
    entries = communicator_account(view.job, view)
    entry = next((one for one in entries if one.communicator is communicator and one.is_open), None)
    if entry is None:
        return ""
    hosts = {host for host in entry.hosts.values() if host is not None}
    place = f" on {fold_hosts(hosts)}" if hosts else ""
    name, texts = communicator.id, list[str]()
    if entry.never:
        texts.append(f"{_ranks(entry.never, communicator)}{_above(entry)} never began the setup of communicator {name}")
    if entry.hosts:
        who = f"{_ranks(entry.hosts, communicator)}{place}"
        whole = f"{who} never finished the setup of communicator {name}"
        texts.append(f"{who} never finished it" if entry.never else whole)
    complete = sum(one.is_complete for one in entries)
    if complete:
        texts.append("another one is complete" if complete == 1 else f"{complete} others are complete")
    return "; ".join(texts)


def _above(entry: Entry) -> str:
    """What the ranks that never began are in the parent: `` (rank 6 of its parent, on srv2)``; empty if unknown."""
    if not entry.above:
        return ""
    hosts = {host for host in entry.above.values() if host is not None}
    whole = "the job" if entry.communicator.parent is None else "its parent"
    return f" ({_word(entry.above)} of {whole}{f', on {fold_hosts(hosts)}' if hosts else ''})"


def _ranks(ranks: Iterable[int], communicator: Communicator) -> str:
    return _word(ranks) + (f" of {communicator.nranks}" if communicator.nranks is not None else "")


def _word(ranks: Iterable[int]) -> str:
    folded = fold_ranks(ranks)
    return f"{'rank' if folded.isdecimal() else 'ranks'} {folded}"


@derived
def sizes_text(communicator: Communicator, view: View) -> str:
    """The sizes that ranks of an open communicator gave: ``ranks 0-3,6 began it with nranks 7, ...``; empty for one."""
    if len(communicator.sizes) < 2 or set(communicator.ranks_started) <= set(communicator.ranks_ready):  # noqa: PLR2004
        return ""
    view.note(communicator, "sizes")
    by_size = sorted(communicator.sizes.items(), key=lambda one: -int(one[0]))
    who = [f"{'rank' if ranks.isdecimal() else 'ranks'} {ranks}" for _, ranks in by_size]
    return ", ".join(f"{name} began it with nranks {size}" for name, (size, _) in zip(who, by_size, strict=True))


@derived
def is_child(communicator: Communicator, view: View) -> bool:
    """Was the communicator made from another one?"""
    return communicator.parent is not None or "/" in communicator.id
