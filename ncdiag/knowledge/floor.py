"""What the report says of a failure without a rule: its line, what the catalogue knows of it, and why it failed."""

from __future__ import annotations

from ncdiag.facts.model import Event, Job
from ncdiag.facts.view import View, derived, derived_of
from ncdiag.facts.vocabulary.outcome import place
from ncdiag.messages import about
from ncdiag.nccl import reasons


@derived
def last_ready(job: Job, view: View) -> dict[str, int]:
    """The line of each source in which a process last printed that a communicator was complete."""
    found: dict[str, int] = {}
    for source, line in view.get(job, "ready_places").values():
        found[source] = max(line, found.get(source, 0))
    return found


@derived_of("failure-words", "port-tried")
def is_open_wording(event: Event, view: View) -> bool:
    """True if words alone speak of a failure, no other line tells of one, and nothing went on behind it.

    So does a port that did not answer when somebody tried it by hand.
    """
    if (event.event == "port-tried" and event.fields.get("answer") == "answers") or view.get(view.job, "open_failures"):
        return False
    if view.get(event, "went_on") or view.get(event, "is_elsewhere"):
        return False
    at = place(event)
    return at is None or view.get(view.job, "last_ready").get(at[0], 0) < at[1]


@derived
def is_cited(event: Event, view: View) -> bool:
    """True if a finding that was made before rests on this line, or on one that says the same of the same host."""
    return event.provenance.get("") in view.cited


@derived
def meaning(event: Event, view: View) -> str | None:
    """What the catalogue says that the message means."""
    return about.entry(event.event).meaning or None


@derived
def next_step(event: Event, view: View) -> str | None:
    """What the catalogue says to do next."""
    return about.entry(event.event).next or None


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
