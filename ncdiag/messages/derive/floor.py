"""What the report says of a failure without a rule: its line, what the catalogue knows of it, and why it failed."""

from __future__ import annotations

from ncdiag.facts.model import Event
from ncdiag.facts.view import View, derived
from ncdiag.messages import about
from ncdiag.nccl import reasons

_SHOWN = 160
"""Characters of a line in a title."""
_UNKNOWN = "A program reports a failure that no catalogue knows"
_LAST_WORD = "The last warning before the failure"
_NOT_KNOWN = "The catalogue does not know this message; its words are all that is known of it."
_LOOK = "Look at the lines before it, on this rank first, then on the others."


@derived
def report(event: Event, view: View) -> str:
    """What kind of thing failed, with the words of the line: ``A TCP connection could not be made: ...``."""
    known = about.category(event.event)
    text = " ".join(event.text.split())
    said = text if len(text) <= _SHOWN else f"{text[: _SHOWN - 4].rstrip()} ..."
    other = _LAST_WORD if view.get(event, "meaning") else _UNKNOWN
    return f"{known.title if known is not None else other}: {said}"


@derived
def explanation(event: Event, view: View) -> str:
    """What the message means and, where its line gives a reason, what that reason means."""
    meaning = view.get(event, "meaning") or _NOT_KNOWN
    why = reasons.groups().get(view.get(event, "reason") or "")
    name = view.get(event, "error_name")
    return f"{meaning} The reason given{f' ({name})' if name else ''}: {why}." if why else meaning


@derived
def advice(event: Event, view: View) -> str:
    """What to do next: the catalogue's advice, else where to look."""
    return view.get(event, "next_step") or _LOOK
