"""Tests for the lines above another one in the same text."""

from __future__ import annotations

from ncdiag.base.spans import Span
from ncdiag.facts.model import Event, Job
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.tracebacks import events_above


def line(name: str, number: int, source: str = "job.log") -> Event:
    text = f"{name} {number}"
    return Event(event=name, origin="app", kind="fact", text=text, provenance={"": Span(source, number, text)})


def test_frames_are_those_shortly_above_in_the_same_text() -> None:
    far, first, second = line("frame", 10), line("frame", 20), line("frame", 49)
    error, below, elsewhere = line("error", 50), line("frame", 51), line("frame", 45, "other.log")
    view = View(Job(events=(second, first, far, error, below, elsewhere, line("loader", 48), line("frame", 50))))
    assert events_above(error, view, "frame", 30) == [first, second]
    assert not events_above(error, view, "spawn", 30)


def test_a_line_without_a_place_has_nothing_above() -> None:
    error = Event(event="error", origin="app", kind="fact", text="error")
    assert not events_above(error, View(Job(events=(line("frame", 1), error))), "frame", 30)
