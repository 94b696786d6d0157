"""What the processes of a running job do, where none of them is late."""

from __future__ import annotations

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Event
from ncdiag.facts.view import View
from ncdiag.knowledge.launcher.silence import EXAMINED, processes, states


@derived
def examined_text(event: Event, view: View) -> str:
    """What the processes of a running job do, each place with those that are there; empty if none was read.

    Their stacks say more where they were read: a launcher that only waits for them is left out.
    """
    if event.event != EXAMINED or not states(view.job):
        return ""
    return "; ".join(processes(view.job, view))
