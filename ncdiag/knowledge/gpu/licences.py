"""The licence of a virtual GPU."""

from __future__ import annotations

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Event, Job
from ncdiag.facts.view import View

_WITHOUT = frozenset({"Unlicensed", "Unlicensed (Restricted)"})
"""``Unlicensed (Unrestricted)`` is left out: the first minutes after the start, in which nothing is limited."""
_MISSING, _ACQUIRED = "vgpu-license-missing", "vgpu-license-acquired"


@derived
def lacks_vgpu_license(job: Job, view: View) -> bool | None:
    """Does a virtual GPU have no licence? None where neither its state nor the log of its daemon is shown.

    Of the log, what each machine says last counts: a licence may come at the second attempt, and may be lost.
    """
    known = [gpu for host in job.hosts for gpu in host.gpus if gpu.license is not None]
    for gpu in known:
        if gpu.license in _WITHOUT:
            view.note(gpu, "license")
            return True
    events = [*view.events_named(_MISSING), *view.events_named(_ACQUIRED)]
    said = {event.host: event for event in sorted(events, key=_order)}
    if known or not said:
        return False if known else None
    for event in said.values():
        if event.event == _MISSING:
            view.note(event)
            return True
    return False


def _order(event: Event) -> int:
    return event.order
