"""Lists of hosts that horovodrun cannot read."""

from __future__ import annotations

from ncdiag.facts.derived import derived_of
from ncdiag.facts.model import Event
from ncdiag.facts.view import View

_CODE = {"hostname, slots =": "values to unpack (expected 2", "in parse_host_files": "list index out of range"}
"""What a traceback shows where Horovod reads a host, and what Python says then; the source alone is no failure."""


@derived_of("horovod-hosts-misread")
def is_unreadable_host(event: Event, view: View) -> bool:
    """Does the line refuse a host, or is it the line of Horovod at which an exception of that kind ended it?"""
    said = next((said for code, said in _CODE.items() if code in event.text), None)
    if said is None:
        return True
    if "horovod/" not in str(event.fields.get("source_file", "horovod/")):
        return False
    ends = (end for end in view.events_on(event.host, ["python-exception"]) if said in str(end.fields.get("error", "")))
    end = next(ends, None)
    if end is not None:
        view.note(end)
    return end is not None
