"""Tasks and actors of Ray that fail: which one raised an exception."""

from __future__ import annotations

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Event
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.outcome import place

_RAISED, _NO_GPU = "ray-task-raised", "cuda-no-device"
_LONGEST = 80
"""The number of lines of a traceback, with those of the exceptions that it chains."""


@derived
def ray_task(event: Event, view: View) -> str:
    """The task of Ray in whose traceback the line is, ``Worker.setup``; empty if it is in none."""
    at = place(event)
    if at is None or event.event != _NO_GPU:
        return ""
    above = [
        (seen[1], other)
        for other in view.job.events
        if other.event == _RAISED and (seen := place(other)) and seen[0] == at[0] and 0 < at[1] - seen[1] <= _LONGEST
    ]
    if not above:
        return ""
    last = max(above, key=lambda each: each[0])[1]
    view.note(last)
    return str(last.fields.get("ray_task", "")).removesuffix("()")
