"""The complaints of the report: what a person says, what the input shows, and what the findings imply."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ncdiag.engine.results import Finding
from ncdiag.facts.model import FAILING, Job, Phase
from ncdiag.facts.view import View
from ncdiag.messages.vocabulary.phases import phase
from ncdiag.messages.vocabulary.seen import goes_well, refined, seen_complaints
from ncdiag.report import model
from ncdiag.report.texts import evidence, lines_of, spoken

STOPS = FAILING | {"hangs"}
"""Failures from which a job does not recover."""
UNSPECIFIC = frozenset({"fails", "fails-at-init"})
SHOWN = 20
"""Maximum number of a person's sentences that a report repeats."""


def told(job: Job) -> Iterator[model.Complaint]:
    """The complaints of a person."""
    once = {(found.what, found.text): found for found in reversed(job.complaints)}
    for found in list(reversed(once.values()))[:SHOWN]:
        yield model.Complaint(found.what, found.text, lines_of(found), phase=found.phase, scope=found.scope)


def seen(view: View, findings: Iterable[Finding]) -> Iterator[model.Complaint]:
    """The problems that the input shows, each kind once: first from facts, then from the symptoms found."""
    known = set[str]()
    for found in seen_complaints(view.job, view):
        known.add(found.what)
        yield model.Complaint(found.what, found.text, lines_of(found), told=False, phase=found.phase, where=found.where)
    reached: Phase | None = phase(view.job, view)
    for finding in findings:
        complaint = finding.rule.complaint
        if complaint is None or finding.severity == "info":
            continue
        what = refined(complaint, reached)
        if what in known or (what in UNSPECIFIC and known & FAILING) or (what in STOPS and goes_well(view.job, view)):
            continue
        known.add(what)
        met = reached if what in STOPS else None
        yield model.Complaint(what, spoken(finding.title), evidence(finding.evidence), told=False, phase=met)
