"""A UCX that was built for one thread, below a program that lets several call MPI."""

from __future__ import annotations

from ncdiag.facts.derived import derived_of
from ncdiag.facts.model import Event
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.outcome import is_open_failure

_UCX, _UCC, _NO_COMPONENT = "ucx-without-threads", "ucc-without-threads", "mpi-component-missing"


@derived_of(_UCX, _UCC)
def stops_without_threads(event: Event, view: View) -> bool:
    """Does the program end because UCX was built for one thread? Open MPI sends in another way where it may."""
    if event.event == _UCC:
        return bool(is_open_failure(event, view))
    missing = (each for each in view.events_named(_NO_COMPONENT) if each.fields.get("component") in {"ucx", "pml"})
    found = next((each for each in missing if is_open_failure(each, view)), None)
    if found is not None:
        view.note(found)
    return found is not None
