"""Objects that a program gives to spawned processes and that cannot be pickled.

The words are those of CPython (Modules/_pickle.c, Objects/typeobject.c, Lib/pickle.py, 3.6 to 3.14).
"""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived_of
from ncdiag.facts.model import Event
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.outcome import is_open_failure, place
from ncdiag.messages.vocabulary.exceptions import EXCEPTION

_SPAWNS, _LOADS = "spawn-frame", "loader-frame"
_REFUSED = lazy_regex(r"(?:[Cc]an't|cannot) pickle |[Cc]an't get local object ")
_CLASSES = frozenset({"AttributeError", "PicklingError", "TypeError"})
_LONGEST = 60
"""The number of lines between the frame that spawns and the exception."""


@derived_of(EXCEPTION)
def is_unpicklable(event: Event, view: View) -> bool:
    """Did the start of processes by spawn fail because an object for them cannot be pickled?

    Workers of a data loader are started in the same way, and are no ranks.
    """
    name = str(event.fields.get("exception", "")).rpartition(".")[2]
    if name not in _CLASSES or not _REFUSED.match(str(event.fields.get("error", ""))):
        return False
    spawned = _above(event, view, _SPAWNS)
    if spawned is None or _above(event, view, _LOADS) is not None or not is_open_failure(event, view):
        return False
    view.note(spawned)
    return True


def _above(event: Event, view: View, name: str) -> Event | None:
    """A frame of this kind in the traceback of the exception."""
    at = place(event)
    for other in view.job.events:
        seen = place(other) if other.event == name else None
        if at and seen and seen[0] == at[0] and 0 < at[1] - seen[1] <= _LONGEST:
            return other
    return None
