"""Choose the suspects that a report shows, and the words for their likelihood; often none needs to be shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

import msgspec

from ncdiag.base.spans import Span
from ncdiag.engine.results import Finding
from ncdiag.engine.schema import Rule
from ncdiag.facts.model import Event
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.outcome import open_failures
from ncdiag.messages.vocabulary.seen import goes_well
from ncdiag.suspects.weigh import Judged, Scales, Weighed

Likelihood = Literal["very likely", "likely", "possible"]
MOST = 3
"""Maximum number of suspects in a report."""
VERY_LIKELY, LEAD, LIKELY, POSSIBLE = 4.0, 1.4, 3.4, 1.5
"""Minimum scores for the words; ``LEAD`` is the minimum lead over the second suspect for 'very likely'."""
FAR = 1.0
"""Maximum distance in score to the first suspect: one that is three times less likely is not worth a person's time."""


class Suspected(msgspec.Struct, frozen=True):
    """A suspect to be shown."""

    weighed: Weighed
    likelihood: Likelihood

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


def is_specific(found: Finding) -> bool:
    """True if the finding names what to fix, not only that something failed."""
    return found.role == "cause" and found.severity != "info" and not found.vague and not found.rule.floor


def is_telling(found: Finding) -> bool:
    """True for a symptom with a specific rule, not only that something failed."""
    return found.role == "symptom" and found.severity != "info" and not found.vague and not found.rule.floor


def is_named(found: Finding) -> bool:
    """True if a specific rule found it, even if it says little about what to fix."""
    return found.severity != "info" and not found.rule.floor


def answers(findings: Sequence[Finding], suspected: Sequence[Suspected]) -> tuple[str, ...]:
    """Names of findings and suspects in the order of a report.

    Causes that say what to fix, likely suspects, symptoms that say where it fails, risks, possible suspects, the rest,
    and suspects for which only words speak.
    """
    likely = [each.rule.name for each in suspected if each.likelihood != "possible"]
    possible = [each.rule.name for each in suspected if not each.weighed.only_resembles]
    words = [each.rule.name for each in suspected if each.weighed.only_resembles]
    specific = [found.rule.name for found in findings if is_specific(found)]
    telling = [found.rule.name for found in findings if is_telling(found)]
    telling += [found.rule.name for found in findings if found.role == "risk" and found.severity != "info"]
    others = [found.rule.name for found in findings]
    return tuple(dict.fromkeys([*specific, *likely, *telling, *possible, *others, *words]))


def suspects(rules: Iterable[Rule], findings: Sequence[Finding], scales: Scales, view: View) -> tuple[Suspected, ...]:
    """The suspects to show."""
    troubled = is_troubled(findings, view)
    weighed = worth_naming(scales.weigh(eligible(rules, findings)), findings)
    if not troubled and not scales.asked:
        # a page that explains procedures contains the words of every fault of its field
        weighed = [each for each in weighed if not each.only_resembles]
    shown = named(weighed, lines_of_symptoms(findings), troubled=troubled)
    risks = frozenset() if troubled else {found.rule.code for found in findings if found.severity != "info"}
    return tuple(each for each in shown if each.rule.code not in risks)


def worth_naming(weighed: Sequence[Weighed], findings: Iterable[Finding]) -> Sequence[Weighed]:
    """The suspects with signs; suspects that only resemble the input are included if no rule and no sign says more."""
    signed = [each for each in weighed if not each.only_resembles]
    says_more = any(each.score >= POSSIBLE for each in signed) or any(map(is_named, findings))
    return signed if says_more else weighed


def is_called_for(findings: Sequence[Finding], view: View) -> bool:
    """True if suspects are to be scored: no finding names the cause, and there is a problem or a complaint."""
    job = view.job
    well = goes_well(job, view) and not job.complaints and not open_failures(job, view)
    return not well and not any(is_specific(found) for found in findings)


def eligible(rules: Iterable[Rule], findings: Sequence[Finding]) -> Iterable[Rule]:
    """The rules that may be suspects: not those whose finding is already reported as the problem."""
    shown = {found.rule.code for found in findings if found.severity != "info" and found.role != "risk"}
    return (rule for rule in rules if rule.code not in shown)


def is_troubled(findings: Sequence[Finding], view: View) -> bool:
    """True if something failed or somebody complains. If not, suspects are at most possible."""
    return bool(view.job.complaints or open_failures(view.job, view)) or any(
        found.role == "symptom" and found.severity != "info" for found in findings
    )


def lines_of_symptoms(findings: Iterable[Finding]) -> frozenset[Span]:
    """The evidence of the symptoms that say where it fails."""
    return frozenset(span for found in findings if is_telling(found) for span in found.evidence)


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


def named(
    weighed: Sequence[Weighed], cited: frozenset[Span] = frozenset(), *, troubled: bool = True
) -> Iterable[Suspected]:
    """The first suspects, each with the word for its score; less than possible, or far from the first, is left out.

    A suspect is at most possible if its evidence is only that of a symptom (``cited``: its lines) or resemblance, or if
    nothing went wrong.
    """
    for place, each in enumerate(weighed[:MOST]):
        if weighed[0].score - each.score > FAR:
            return
        behind = weighed[place + 1].score if place + 1 < len(weighed) else 0.0
        word = likelihood(each.score, each.score - behind, first=place == 0)
        if word is None:
            return
        yield Suspected(each, word if troubled and not says_no_more(each, cited) else "possible")


def likelihood(score: float, lead: float, *, first: bool) -> Likelihood | None:
    """The word for a score; only the first suspect, with a clear lead, is very likely."""
    if first and score >= VERY_LIKELY and lead >= LEAD:
        return "very likely"
    if score >= LIKELY:
        return "likely"
    return "possible" if score >= POSSIBLE else None
