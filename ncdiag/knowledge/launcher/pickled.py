"""Objects that a program gives to spawned processes and that cannot be pickled.

The words are those of CPython (Modules/_pickle.c, Objects/typeobject.c, Lib/pickle.py, 3.6 to 3.14).
"""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived_of
from ncdiag.facts.model import Event
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.outcome import is_open_failure
from ncdiag.facts.vocabulary.tracebacks import events_above
from ncdiag.messages.vocabulary.exceptions import EXCEPTION

_SPAWNS, _LOADS = "spawn-frame", "loader-frame"
_REFUSED = lazy_regex(r"(?:[Cc]an't|cannot) pickle |[Cc]an't get local object ")
_CLASSES = frozenset({"AttributeError", "PicklingError", "TypeError"})
_LONGEST = 60
"""The number of lines between the frame that spawns and the exception."""


@derived_of(EXCEPTION)
def is_unpicklable(event: Event, view: View) -> bool:
    """Did the start of processes by spawn fail because an object for them cannot be pickled?

    Workers of a data loader are started in the same way, and are not ranks.
    """
    name = str(event.fields.get("exception", "")).rpartition(".")[2]
    if name not in _CLASSES or not _REFUSED.match(str(event.fields.get("error", ""))):
        return False
    spawned, loads = (events_above(event, view, frame, _LONGEST) for frame in (_SPAWNS, _LOADS))
    if not spawned or loads or not is_open_failure(event, view):
        return False
    view.note(spawned[0])
    return True
