"""The report about a failure that no rule covers: its line, its meaning in the catalogue, and its reason."""

from __future__ import annotations

from ncdiag.cells.reading import UNKNOWN, said
from ncdiag.cells.vocabulary import vocabulary
from ncdiag.facts.derived import derived, derived_of
from ncdiag.facts.model import Event, Job
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.outcome import is_elsewhere, open_failures, ready_places, went_on
from ncdiag.facts.vocabulary.places import place
from ncdiag.messages import about
from ncdiag.messages.vocabulary.reasons import category, error_name, reason
from ncdiag.nccl import reasons


@derived
def last_ready(job: Job, view: View) -> dict[str, int]:
    """The line of each source in which a process last printed that a communicator was complete."""
    found: dict[str, int] = {}
    for source, line in ready_places(job, view).values():
        found[source] = max(line, found.get(source, 0))
    return found


@derived_of("failure-words", "port-tried")
def is_open_wording(event: Event, view: View) -> bool:
    """Do words alone mention a failure, without another line that reports one or anything that continued after it?

    True also for a port that did not answer when a person tried it by hand.
    """
    if (event.event == "port-tried" and event.fields.get("answer") == "answers") or open_failures(view.job, view):
        return False
    if went_on(event, view) or is_elsewhere(event, view):
        return False
    at = place(event)
    return at is None or last_ready(view.job, view).get(at[0], 0) < at[1]


@derived
def is_cited(event: Event, view: View) -> bool:
    """Does an earlier finding rest on this line, or on one with the same text about the same host?"""
    return event.provenance.get("") in view.cited


@derived
def meaning(event: Event, view: View) -> str | None:
    """The meaning of the message in the catalogue."""
    return about.entry(event.event).meaning or None


@derived
def next_step(event: Event, view: View) -> str | None:
    """The next step for the message in the catalogue."""
    return about.entry(event.event).next or None


_TCP = frozenset({"tcp-connect", "tcp-listen", "tcp-transfer", "tcp-setup"})
_SHOWN = 160
"""The largest number of characters of a line in a title."""
_ANY_ERROR = frozenset({"error-line", "failure-words"})
"""Categories of lines of which only the level, or a word, says that something failed."""
_UNKNOWN = "A program reports a failure that is not in the catalogue"
_LAST_WORD = "The last warning before the failure"
_NOT_KNOWN = "The message is not in the catalogue; nothing is known about it but its text."
_LOOK = "Look at the lines before it, on this rank first, then on the others."


@derived
def report(event: Event, view: View) -> str:
    """The category of the failure with the words of the line: ``A TCP connection could not be established: ...``."""
    known = about.category(event.event)
    text = " ".join(event.text.split())
    shown = text if len(text) <= _SHOWN else f"{text[: _SHOWN - 4].rstrip()} ..."
    named = _named(event.text) if known is None or category(event, view) in _ANY_ERROR else ""
    other = _LAST_WORD if meaning(event, view) else _UNKNOWN
    return f"{named or (known.title if known is not None else other)}: {shown}"


def _named(text: str) -> str:
    """The operation or part that the line names, and why it failed: the innermost reason of a chain; else empty."""
    words = vocabulary()
    found = said(text, words)
    parts = [*(thing for thing, _ in found.own), *found.objects]
    thing = next((each for each in parts if not words.objects[each].field), "")
    if not thing or not found.reasons or found.reasons[-1] == UNKNOWN:
        return ""
    return f"A program reports a failure: {words.objects[thing].name}, {words.reasons[found.reasons[-1]]}"


@derived
def explanation(event: Event, view: View) -> str:
    """The meaning of the message and, where its line gives a reason, the meaning of that reason."""
    known = meaning(event, view) or _NOT_KNOWN
    why = reasons.groups().get(reason(event, view) or "")
    name = error_name(event, view)
    return f"{known} The reason given{f' ({name})' if name else ''}: {why}." if why else known


@derived
def advice(event: Event, view: View) -> str:
    """The next step: by the reason of a failed TCP connection, else by the catalogue, else where to search."""
    by_reason = None
    if category(event, view) in _TCP:
        by_reason = reasons.first_step_of_tcp(reason(event, view) or "")
    return by_reason or next_step(event, view) or _LOOK
