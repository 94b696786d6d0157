"""Inference engines that hand each other their caches: which one answers at the address that another announced."""

from __future__ import annotations

from ncdiag.facts.derived import derived_of
from ncdiag.facts.model import Event
from ncdiag.facts.view import View

_WRONG, _STARTED = "nixl-wrong-engine", "nixl-engine-started"


@derived_of(_WRONG)
def reaches_itself(event: Event, view: View) -> bool | None:
    """Did the engine that asked answer itself: did its own process announce the id that it received?

    None where no line says which process has the engine of that id.
    """
    received = str(event.fields.get("engine_id", "")).rstrip(".")
    started = [e for e in view.job.events if e.event == _STARTED and str(e.fields.get("engine_id")) == received]
    owners = {(e.host, e.pid) for e in started if e.pid is not None}
    return (event.host, event.pid) in owners if owners and event.pid is not None else None
