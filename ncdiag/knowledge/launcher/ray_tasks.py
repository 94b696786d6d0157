"""Tasks and actors of Ray that fail: which one raised an exception."""

from __future__ import annotations

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Event
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.tracebacks import events_above

_RAISED, _NO_GPU = "ray-task-raised", "cuda-no-device"
_LONGEST = 80
"""The number of lines of a traceback, with those of the exceptions that it chains."""


@derived
def ray_task(event: Event, view: View) -> str:
    """The task of Ray in whose traceback the line is, ``Worker.setup``; empty for other lines."""
    raised = events_above(event, view, _RAISED, _LONGEST) if event.event == _NO_GPU else ()
    if not raised:
        return ""
    view.note(raised[-1])
    return str(raised[-1].fields.get("ray_task", "")).removesuffix("()")
