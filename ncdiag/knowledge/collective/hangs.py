"""A job that hangs without a message: how far its ranks came, whom they wait for, and who is not in the input."""

from __future__ import annotations

from ncdiag.facts.derived import derived
from ncdiag.facts.fold import fold_ranks
from ncdiag.facts.model import Communicator, FlightEntry, FlightRecord, Job
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.communicators import members
from ncdiag.facts.vocabulary.outcome import open_failures, outcome
from ncdiag.knowledge.collective.dumps import settled
from ncdiag.knowledge.collective.stragglers import waits

_MOST_RANKS = 1 << 17
"""The largest size of a communicator for which missing ranks are named."""


@derived
def waits_after_init(communicator: Communicator, view: View) -> bool:
    """Does a person report a hang, and did the ranks in the input complete the setup and print nothing more?

    The largest communicator represents all complete ones.
    """
    job = view.job
    hung = next((told for told in job.complaints if told.what == "hangs"), None)
    if hung is None or _fails(job, view) or any(run.rows for run in job.benchmarks) or outcome(job, view) != "unknown":
        return False
    view.note(hung)
    largest = view.remembered(("largest of complete communicators",), lambda: _largest_of_complete(job))
    return communicator is largest and communicator.nranks != 1


def _largest_of_complete(job: Job) -> Communicator | None:
    """The largest communicator; None if one of them is not complete."""
    if not all(c.ranks_ready and set(c.ranks_started) <= set(c.ranks_ready) for c in job.communicators):
        return None
    return max(job.communicators, key=lambda found: found.nranks or 0, default=None)


def _fails(job: Job, view: View) -> bool:
    """Does anything report a failure, or a wait that other rules cover?"""
    return bool(open_failures(job, view) or job.timeouts or job.stack_dumps or job.flight_records)


@derived
def not_heard_text(communicator: Communicator, view: View) -> str:
    """The ranks that are missing: ``2-15 of its 16 ranks are not in this input``, or a note that all are there."""
    if communicator.nranks is None:
        return "how many ranks it has is not in this input"
    heard = {
        *communicator.ranks_started,
        *communicator.ranks_ready,
        *(rank.rank for rank in members(communicator, view)),
    }
    missing = set(range(min(communicator.nranks, _MOST_RANKS))) - heard
    if not missing:
        return f"all its {communicator.nranks} ranks are in this input"
    word = "rank" if len(missing) == 1 else "ranks"
    verb = "is" if len(missing) == 1 else "are"
    return f"{word} {fold_ranks(missing)} of its {communicator.nranks} {verb} not in this input"


@derived
def heard_text(communicator: Communicator, view: View) -> str:
    """The ranks in the input: ``Ranks 0-3 completed the setup and wait``."""
    heard = {*communicator.ranks_started, *communicator.ranks_ready}
    one = len(heard) == 1
    return f"{'Rank' if one else 'Ranks'} {fold_ranks(heard)} completed the setup and {'waits' if one else 'wait'}"


@derived
def is_waiting(record: FlightRecord, view: View) -> bool:
    """Does the dump end in a collective that was not completed, and no other dump or line show who is late?"""
    view.note(record)
    return _open(settled(record, view)) is not None and not any("late" in wait.groups for wait in waits(view.job, view))


def _open(record: FlightRecord) -> FlightEntry | None:
    """The first collective that was enqueued and not completed."""
    return next((e for e in record.entries if e.operation and e.state in {"scheduled", "started"}), None)


@derived
def waits_in(record: FlightRecord, view: View) -> str:
    """The collective in which the rank waits: ``all_reduce number 8 of process group 0, which it started``."""
    entry = _open(record)
    if entry is None:
        return "a collective"
    number = f" number {entry.sequence}" if entry.sequence is not None else ""
    group = f" of process group {entry.group}" if entry.group is not None else ""
    way = "started" if entry.state == "started" else "enqueued and did not start"
    return f"{entry.operation}{number}{group}, which it {way}"


@derived
def dumps_missing_text(record: FlightRecord, view: View) -> str:
    """Members of that process group without a dump: ``the dumps of ranks 1-3 are not in this input``."""
    entry = _open(record)
    group = next((g for g in record.groups if entry is not None and g.name == entry.group), None)
    group = group or next(iter(record.groups), None)
    shown = {other.rank for other in view.job.flight_records}
    missing = set(group.ranks or ()) - shown if group is not None else set()
    if not missing:
        return "all members of the group that were dumped wait in it"
    one = len(missing) == 1
    who = f"rank {fold_ranks(missing)}" if one else f"ranks {fold_ranks(missing)}"
    return f"the dump{'' if one else 's'} of {who} {'is' if one else 'are'} not in this input"
