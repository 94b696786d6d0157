"""Whether what goes wrong in a job is what a defect causes."""

from __future__ import annotations

from collections.abc import Iterator

from ncdiag.facts.derived import derived
from ncdiag.facts.model import SET_UP, Event, Host, Job, Phase, What
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.gpus import is_wrong_data
from ncdiag.facts.vocabulary.outcome import is_failure, went_on
from ncdiag.facts.vocabulary.usual import platform
from ncdiag.messages.vocabulary import xids
from ncdiag.messages.vocabulary.reasons import category
from ncdiag.messages.vocabulary.seen import goes_well, seen_complaints
from ncdiag.nccl.defects.entries import Defect

_ALIKE: dict[str, frozenset[str]] = {
    "crashes": frozenset({"crashes", "fails", "fails-at-init"}),
    "fails": frozenset({"fails", "fails-at-init", "crashes"}),
    "fails-at-init": frozenset({"fails-at-init", "fails", "cannot-start"}),
}
"""What people and programs report of a defect that ends a job: the same failure has several names."""
_STARTING = frozenset({*SET_UP, "rendezvous"})
_RUNNING = frozenset({"first-collective", "later"})


def fits(defect: Defect, view: View) -> bool:
    """Does something go wrong that the defect causes, in the phase in which it does?"""
    alike = _ALIKE.get(defect.complaint, frozenset({defect.complaint}))
    return any(what in alike and _same_phase(defect.phase, phase) for what, phase in troubles(view))


@derived
def is_only_slow(job: Job, view: View) -> bool:
    """Do people complain about the speed alone? Then the job runs."""
    return {told.what for told in job.complaints} == {"slow"}


def is_of_phase(defect: Defect, view: View) -> bool:
    """Is the defect one of any phase, or of the one that is known? A job of which none is known may be elsewhere."""
    return not defect.phase or any(met is not None and _same_phase(defect.phase, met) for _, met in troubles(view))


def troubles(view: View) -> tuple[tuple[What, Phase | None], ...]:
    """What goes wrong, with its phase where that is known: what people report, then what the input shows."""
    return view.remembered(("troubles of releases",), lambda: tuple(dict.fromkeys(_troubles(view))))


def _troubles(view: View) -> Iterator[tuple[What, Phase | None]]:
    yield from ((told.what, told.phase) for told in view.job.complaints)
    if not goes_well(view.job, view):
        yield from ((seen.what, seen.phase) for seen in seen_complaints(view.job, view))


def is_troubled(view: View) -> bool:
    """Does anything go wrong at all?"""
    return bool(troubles(view))


def ended_on_a_gpu(view: View) -> bool:
    """Does the kernel log say that the work of a program failed on a GPU?"""
    return view.remembered(
        ("a program's Xid",),
        lambda: any((known := xids.of(event)) is not None and known.fault == "program" for event in view.job.events),
    )


def never_connected(view: View) -> bool:
    """Did a process end because it could not establish a TCP connection?"""
    return view.remembered(
        ("never connected",), lambda: any(_is_of_connecting(event, view) for event in view.job.events)
    )


def _is_of_connecting(event: Event, view: View) -> bool:
    return category(event, view) == "tcp-connect" and is_failure(event, view) and not went_on(event, view)


def _same_phase(own: str, met: Phase | None) -> bool:
    """Are the phases alike? Frameworks create a communicator at the first collective: its setup is seen there."""
    if not own or met is None or own == met or (met == "first-collective" and own in SET_UP):
        return True
    return next((met in group for group in (_STARTING, _RUNNING) if own in group), False)


def loses_peer_data(host: Host, view: View) -> bool:
    """Are copies between GPUs corrupted: does a test of copies fail, or are results with several GPUs wrong?"""
    if any(is_wrong_data(check, view) for check in host.checks):
        return True
    return any(what == "wrong-results" for what, _ in troubles(view)) and "several-gpus" in platform(view.job, view)


NO_CHOICE = "no-algorithm"
_SET = "was set to"
"""The event of NCCL's error that variables leave no algorithm, and its words for a variable that was set."""


def blames_a_variable(view: View) -> bool:
    """Does NCCL's own error name the variable that leaves it no algorithm?"""
    return view.remembered(
        ("a variable is blamed",),
        lambda: any(_SET in str(e.fields.get("advice", "")) for e in view.job.events if e.event == NO_CHOICE),
    )
