"""A process of MPI that nobody gave a process manager, and that did its work alone before the job was started."""

from __future__ import annotations

from ncdiag.facts.model import FAILURES, Event
from ncdiag.facts.view import View

ALONE = "mpi-pmi-alone"
_ABORTED = "mpi-abort-alone"


def was_a_tool(event: Event, view: View) -> bool:
    """Did the process end without a failure before the first command that starts the job?

    A process that a launcher started before belongs to the job, which its ranks may fail to find.
    """
    at = event.provenance.get("")
    if event.event != ALONE or at is None:
        return False
    spans = [launch.provenance.get("") for launch in view.job.launches]
    lines = [span.line for span in spans if span is not None and span.source == at.source]
    if not lines or min(lines) < at.line:
        return False
    return not any(
        (span := other.provenance.get("")) is not None
        and span.source == at.source
        and at.line < span.line < min(lines)
        and (other.event == _ABORTED or (other.kind in FAILURES and other.event != ALONE))
        for other in view.job.events
    )
