"""What goes wrong, for the report: what a person says and what the input shows."""

from __future__ import annotations

from collections.abc import Iterator

from ncdiag.facts.model import Job
from ncdiag.facts.view import View
from ncdiag.messages.vocabulary.seen import seen_complaints
from ncdiag.report import model
from ncdiag.report.texts import lines_of

SHOWN = 20
"""Sentences of a person that a report repeats."""


def told(job: Job) -> Iterator[model.Complaint]:
    """What a person says."""
    for found in job.complaints[:SHOWN]:
        yield model.Complaint(found.what, found.text, lines_of(found))


def seen(view: View) -> Iterator[model.Complaint]:
    """What the input shows, each kind of trouble once."""
    for found in seen_complaints(view.job, view):
        yield model.Complaint(found.what, found.text, lines_of(found), told=False, phase=found.phase, where=found.where)
