"""How far a rank, a communicator and the job came, and in which phase a failure occurred.

NCCL prints ``Init START`` before the ranks meet, ``nRanks ... nNodes`` after their first exchange, a line for each
channel while they connect, and ``Init COMPLETE`` at the end (src/init.cc, src/transport.cc, v2.4.6 to v2.30.7).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

from ncdiag.facts.derived import derived
from ncdiag.facts.model import PHASES, SET_UP, Communicator, Event, Job, LastOp, Phase, Rank
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.communicators import members
from ncdiag.facts.vocabulary.outcome import marks, open_failures
from ncdiag.messages import about
from ncdiag.messages.vocabulary.reasons import category

_EXCHANGED = "comm-nodes"
_RETURN = "error-return"
_SET_UP_CODE = ("init.cc", "transport.cc", "bootstrap.cc")
"""Files with the functions that set up a communicator; a trace without any of them is from the transport at work."""

MEETING: frozenset[Phase] = frozenset({"rendezvous", "bootstrap"})
"""The phases in which ranks find each other over TCP, before GPUs are connected."""
CARRYING = frozenset({"ib", "roce", "gdr", "p2p", "nvlink", "shm"})
"""Areas of rules about the transfer of data between GPUs, which NCCL connects once the ranks have met."""


@derived
def phase(job: Job, view: View) -> Phase | None:
    """How far the job got: a step or a benchmark row, else as far as the slowest rank; None if unknown."""
    if marks(job, view).stepped or any(run.rows for run in job.benchmarks):
        return "later"
    found = [came_to(rank, view) for rank in job.ranks]
    found += [reached for communicator in job.communicators if (reached := comm_phase(communicator, view))]
    if found:
        return min(found, key=PHASES.index)
    return "rendezvous" if any(category(e, view) == "rendezvous" for e in job.events) else None


@derived
def comm_phase(communicator: Communicator, view: View) -> Phase | None:
    """How far the communicator came, by its slowest rank; None where none of its ranks was seen."""
    ranks = members(communicator, view)
    called = [op for rank in ranks for op in rank.last_ops if op.communicator == communicator.id]
    if called:
        return _of_calls(called)
    started, ready = set(communicator.ranks_started), set(communicator.ranks_ready)
    if ready and started <= ready:
        return "first-collective"
    late = [came_to(rank, view) for rank in ranks if rank.rank not in ready]
    return min(late, key=PHASES.index, default="bootstrap" if started else None)


@derived
def came_to(rank: Rank, view: View) -> Phase:
    """How far the rank came, by the lines that it printed."""
    if rank.last_ops:
        return _of_calls(rank.last_ops)
    if rank.state == "ready":
        return "first-collective"
    if rank.transports:
        return "connect"
    return "init" if rank.gdr or (rank.host, rank.pid) in exchanged(view.job, view) else "bootstrap"


def _of_calls(calls: Collection[LastOp]) -> Phase:
    """The phase that the last calls show; NCCL numbers the calls of a communicator from 0."""
    return "later" if min(op.op_count for op in calls) > 0 else "first-collective"


@derived
def exchanged(job: Job, view: View) -> frozenset[tuple[str | None, int | None]]:
    """Host and process id of the processes that completed their first exchange with all others."""
    return frozenset((event.host, event.pid) for event in job.events if event.event == _EXCHANGED)


@derived
def phase_met(event: Event, view: View) -> Phase | None:
    """The phase in which a failure occurred: by what failed, by the functions in its process's trace, or by the job.

    None if it is unknown how far the job came.
    """
    return phase_shown(event, view) or phase(view.job, view)


@derived
def phase_shown(event: Event, view: View) -> Phase | None:
    """The phase that a failure itself shows, by what failed or by the functions in its process's trace."""
    known = about.category(event.event)
    if known is not None and known.phase:
        return known.phase
    traced: dict[tuple[str | None, int | None], Phase] = traced_phases(view.job, view)
    own = traced.get((event.host, event.pid))
    if own is None and event.event == _RETURN and len(set(traced.values())) == 1:
        return next(iter(traced.values()))  # the last part of a trace that others show in full
    return own


@derived
def fails_at_meeting(job: Job, view: View) -> bool:
    """Do all failures that were seen or reported occur while the ranks find each other?"""
    shown = {phase_shown(event, view) for event in open_failures(job, view)}
    told = {found.phase for found in job.complaints if found.phase}
    return bool(shown) and shown | told <= MEETING


@derived
def traced_phases(job: Job, view: View) -> dict[tuple[str | None, int | None], Phase]:
    """The phase of each process that its trace of return codes shows: ``transport.cc:34 -> 1`` means connecting.

    A process that had completed its communicators prints such a trace when it destroys them; its phase is then unknown,
    except where it connects after its set-up.
    """
    ready = {(rank.host, rank.pid) for rank in job.ranks if came_to(rank, view) not in SET_UP}
    found: dict[tuple[str | None, int | None], Phase] = {}
    met = exchanged(job, view)
    for process, names in traced_files(job, view).items():
        of = _of_trace(names, met=process in met)
        if of is not None and (of == "connect" or process not in ready):
            found[process] = of
    return found


@derived
def traced_files(job: Job, view: View) -> dict[tuple[str | None, int | None], set[str]]:
    """The files of NCCL that each process names in its trace of return codes: ``transport/shm.cc``."""
    files: dict[tuple[str | None, int | None], set[str]] = defaultdict(set)
    for event in job.events:
        if event.event == _RETURN:
            files[event.host, event.pid].add(str(event.fields.get("source_file")).removeprefix("src/"))
    return files


def _of_trace(files: Collection[str], *, met: bool) -> Phase | None:
    if not any(name in files for name in _SET_UP_CODE):
        return None
    if any(name.startswith("transport") or name == "graph/connect.cc" for name in files):
        return "connect"
    return "bootstrap" if "bootstrap.cc" in files and not met else "init"  # later exchanges use its code as well
