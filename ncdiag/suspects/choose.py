"""Choose the suspects that a report shows, and the words for their likelihood; often none needs to be shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

import msgspec

from ncdiag.base.spans import Span
from ncdiag.engine.order import Basis, Candidate, basis, candidates, ranked
from ncdiag.engine.results import Finding, Reason
from ncdiag.engine.schema import Rule
from ncdiag.facts.model import Event
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.outcome import open_failures
from ncdiag.messages.vocabulary.seen import goes_well
from ncdiag.suspects.weigh import Judged, Scales, Weighed

Likelihood = Literal["very likely", "likely", "possible", "unlikely"]
MOST = 3
"""Maximum number of suspects in a report."""
VERY_LIKELY, LIKELY, POSSIBLE = (2.6, 2.5), (1.8, 0.8), 0.5
"""Minimum firm part of the score, and lead over the next answer, for the words; only the first answer has a lead.

With a lead of less than 2.5, 10 of 17 suspects that were called very likely were right, above it 37 of 42
(tests/suspects/rounds.csv).
"""
SURE = 4.75
"""A score below which no suspect is very likely, however firm its signs (tests/suspects/rounds.csv)."""
UNLIKELY = 2.2
"""A score below which a suspect that is not the first answer is unlikely."""
EQUAL = 0.5
"""A lead below which two answers are shown as equally likely."""
FAR = 4.0
"""Maximum distance of a suspect to the first answer, in steps of log-odds."""
CALM_POSSIBLE, CALM_FAR = 1.5, 1.0
"""``POSSIBLE`` and ``FAR`` if nothing went wrong: then only a suspect with a clear sign is worth showing."""


class Suspected(msgspec.Struct, frozen=True):
    """A suspect to be shown.

    ``lead``: how far its sum is above that of the next candidate; ``is_tied``: the next answer shown is as likely.
    """

    weighed: Weighed
    likelihood: Likelihood
    lead: float = 0.0
    is_tied: bool = False

    @property
    def rule(self) -> Rule:
        """The rule of the suspect."""
        return self.weighed.rule

    @property
    def against(self) -> tuple[Judged, ...]:
        """The signs that count against it."""
        return tuple(judged for judged in self.weighed.signs if judged.counts < 0)

    @property
    def open(self) -> tuple[Judged, ...]:
        """The signs that are unknown from the input."""
        return tuple(judged for judged in self.weighed.signs if judged.truth is None)


def is_telling(found: Finding) -> bool:
    """True for a symptom with a specific rule, not only that something failed."""
    return found.role == "symptom" and found.severity != "info" and not found.vague and not found.rule.floor


class Decided(NamedTuple):
    """Findings in their final order, suspects to show, the names of both; ``is_suspected``: a suspect is the first."""

    findings: tuple[Finding, ...]
    suspected: tuple[Suspected, ...]
    answers: tuple[str, ...]
    is_suspected: bool


def decided(rules: Iterable[Rule], findings: Sequence[Finding], scales: Scales, view: View) -> Decided:
    """One order of all findings and suspects by their sums (`ncdiag.engine.order`), and the suspects worth showing."""
    scores = {found.rule.code: scales.one(found.rule).score for found in findings if found.rule.suspect}
    weighed = [] if goes_well_throughout(view) else scales.weigh(eligible(rules, findings))
    troubled = is_troubled(findings, view)
    if not (scales.is_written if troubled else scales.asked):
        # programs print the words of many faults, and a page that explains procedures has those of its whole field
        weighed = [each for each in weighed if not each.only_resembles]
    return chosen(candidates(findings, scores), weighed, basis(findings, view), troubled=troubled)


def chosen(found: Sequence[Candidate], weighed: Sequence[Weighed], on: Basis, *, troubled: bool) -> Decided:
    """The order of findings and scored suspects; ``troubled``: something failed, or somebody complains."""
    suspected = [_candidate(each) for each in weighed]
    order = ranked([*found, *suspected], on)
    settled = _settled([each.finding for each, _ in order if each.finding is not None])
    held = {each.rule.code: each for each in weighed if not each.places or not each.places <= settled}
    cited = lines_of_symptoms(each.finding for each, _ in order if each.finding is not None)
    shown = list(_shown(order, held, cited, troubled=troubled))
    codes = {each.rule.code for each in shown}
    kept = [(each, value) for each, value in order if each.finding is not None or each.rule.code in codes]
    named = [each for each, _ in kept]
    tied = {each.rule.code for (each, value), (_, next_value) in pairwise(kept) if value - next_value < EQUAL}
    return Decided(
        findings=tuple(each.finding for each in named if each.finding is not None),
        suspected=tuple(msgspec.structs.replace(each, is_tied=each.rule.code in tied) for each in shown),
        answers=tuple(dict.fromkeys(each.rule.name for each in named)),
        is_suspected=bool(named) and named[0].finding is None,
    )


def set_aside(scales: Scales) -> tuple[tuple[Rule, Reason], ...]:
    """The suspects that a fact excludes and whose signs would have made them worth naming, each with the reason."""
    worth = [(each, reason) for each, reason in scales.excluded if each.score >= POSSIBLE and not each.only_resembles]
    return tuple((each.rule, reason) for each, reason in worth[:MOST])


def candidate(rule: Rule, findings: Sequence[Finding], scales: Scales) -> Candidate:
    """The first finding of a rule as a candidate, or the rule as a suspect."""
    scored = scales.one(rule)
    for found in findings:
        if found.rule.code == rule.code:
            return Candidate(rule=rule, score=scored.score, finding=found, evidence=found.evidence)
    return _candidate(scored)


def _candidate(weighed: Weighed) -> Candidate:
    lines = tuple(span for judged in weighed.supporting for span in judged.evidence)
    return Candidate(
        rule=weighed.rule, score=weighed.score, evidence=lines, is_guess=weighed.only_resembles or weighed.only_usual
    )


def goes_well_throughout(view: View) -> bool:
    """True if the job does its work, nothing failed and nobody complains: then there are no suspects."""
    job = view.job
    return goes_well(job, view) and not job.complaints and not open_failures(job, view)


def eligible(rules: Iterable[Rule], findings: Sequence[Finding]) -> Iterable[Rule]:
    """The rules that may be suspects: not those whose finding is already reported as a problem."""
    shown = {found.rule.code for found in findings if found.severity != "info"}
    return (rule for rule in rules if rule.code not in shown)


def is_troubled(findings: Sequence[Finding], view: View) -> bool:
    """True if something failed or somebody complains. If not, suspects are at most possible.

    A failing line that a rule judged to be a note is no failure.
    """
    return bool(view.job.complaints) or any(found.role != "risk" and found.severity != "info" for found in findings)


def lines_of_symptoms(findings: Iterable[Finding]) -> frozenset[Span]:
    """The evidence of the symptoms that say where it fails."""
    return frozenset(span for found in findings if is_telling(found) for span in found.evidence)


def _settled(findings: Sequence[Finding]) -> frozenset[tuple[str, int]]:
    """The lines of the first finding, if it is a certain cause, and of its consequences: a suspect needs others."""
    first = findings[0] if findings else None
    if first is None or (first.role, first.confidence) != ("cause", "certain"):
        return frozenset()
    names = {first.rule.name, *first.consequences}
    spans = (span for found in findings if found.rule.name in names for span in found.evidence)
    return frozenset((span.source, span.line) for span in spans)


def noted(findings: Iterable[Finding]) -> list[Event]:
    """The events that rules judged to be notes, without those that a more severe finding uses."""
    held = [found for found in findings if not found.rule.floor]
    loud = {id(event) for found in held if found.severity != "info" for event in _events(found)}
    return [e for found in held if found.severity == "info" for e in _events(found) if id(e) not in loud]


def _events(found: Finding) -> Iterator[Event]:
    return (entity for names in found.instances for entity in names.values() if isinstance(entity, Event))


def says_no_more(weighed: Weighed, cited: frozenset[Span]) -> bool:
    """True if the evidence for a suspect is only that of a symptom, or only resemblance.

    Evidence of a symptom: lines that the symptom already explains.
    """
    if weighed.only_resembles:
        return True
    lines = {span for judged in weighed.supporting for span in judged.evidence}
    return bool(lines) and lines <= cited


def _shown(
    order: Sequence[tuple[Candidate, float]], held: Mapping[str, Weighed], cited: frozenset[Span], *, troubled: bool
) -> Iterator[Suspected]:
    """The suspects to show, in order; one that is too far from the first answer is left out.

    A suspect for which only a comparison speaks is at most likely; one is at most possible if its evidence is only that
    of a symptom (``cited``: its lines) or resemblance, or if nothing went wrong. Behind a likely answer, and with a low
    score, it is unlikely: 34 of 225 of these were right in rounds of unread threads, of the possible ones 53 of 183.
    """
    least, far = (POSSIBLE, FAR) if troubled else (CALM_POSSIBLE, CALM_FAR)
    number = 0
    claimed = order[0][0].finding if order else None
    is_settled = claimed is not None and claimed.role == "cause" and claimed.confidence != "possible"
    for place, (each, value) in enumerate(order):
        weighed = held.get(each.rule.code)
        if each.finding is not None or weighed is None or weighed.score < least:
            continue
        if number == MOST or order[0][1] - value > far:
            return
        number += 1
        behind = order[place + 1][1] if place + 1 < len(order) else 0.0
        word = likelihood(weighed, value - behind, first=place == 0) or "possible"
        if word == "very likely" and weighed.only_compared:
            word = "likely"
        if not troubled or weighed.only_usual or says_no_more(weighed, cited):
            word = "possible"
        if place and word == "possible" and (is_settled or weighed.score < UNLIKELY):
            word = "unlikely"
        is_settled = is_settled or word in {"very likely", "likely"}
        yield Suspected(weighed, word, value - behind)


def likelihood(weighed: Weighed, lead: float, *, first: bool) -> Likelihood | None:
    """The word for a suspect; only the first answer, with a clear lead and firm signs, is likely or more.

    None if it is not worth showing by itself.
    """
    words: tuple[tuple[Likelihood, tuple[float, float]], ...] = (("very likely", VERY_LIKELY), ("likely", LIKELY))
    for word, (least, distance) in words:
        if first and weighed.firm >= least and lead >= distance and (word != "very likely" or weighed.score >= SURE):
            return word
    return "possible" if weighed.score >= CALM_POSSIBLE else None
