"""The floor: rules for failures that no other finding covers, so that every failure is reported.

The rules with ``floor = true`` are judged after all others, on the failures that no finding cites; their data is the
catalogue of messages.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from ncdiag.base.spans import Span
from ncdiag.engine.evaluate import judge
from ncdiag.engine.results import Finding, Verdict
from ncdiag.engine.schema import Rule
from ncdiag.engine.templates import Values
from ncdiag.facts.model import Event
from ncdiag.facts.view import View
from ncdiag.messages import about
from ncdiag.messages.vocabulary.reasons import reason


def judge_all(rules: Iterable[Rule], view: View, values: Values | None = None) -> list[Verdict]:
    """The verdicts of all rules, those of the floor last."""
    held = list(rules)
    verdicts = judge([rule for rule in held if not rule.floor], view, values)
    below = [rule for rule in held if rule.floor]
    if below:
        view.cited = cited(verdicts, view)
        verdicts += [_placed(verdict, view) for verdict in judge(below, view, values)]
    return verdicts


def cited(verdicts: Sequence[Verdict], view: View) -> frozenset[Span]:
    """The lines on which findings rest, and lines with the same message of the same host, for the same reason."""
    found = {span for verdict in verdicts for finding in verdict.findings for span in finding.evidence}
    found |= {
        span for verdict in verdicts for finding in verdict.findings for names in finding.instances
        for entity in names.values() if isinstance(entity, Event) and (span := entity.provenance.get("")) is not None
    }  # fmt: skip
    rested = {(e.event, e.host) for e in view.job.events if e.provenance.get("") in found}
    alike = [e for e in view.job.events if (e.event, e.host) in rested and e.provenance]
    same = {(e.event, e.host, reason(e, view)) for e in alike if e.provenance[""] in found}
    return frozenset(found | {e.provenance[""] for e in alike if (e.event, e.host, reason(e, view)) in same})


def _placed(verdict: Verdict, view: View) -> Verdict:
    """The verdict with each finding in the layer of its category."""
    return msgspec.structs.replace(verdict, findings=tuple(_of_category(found, view) for found in verdict.findings))


def _of_category(found: Finding, view: View) -> Finding:
    events = [entity for names in found.instances for entity in names.values() if isinstance(entity, Event)]
    category = about.category(events[0].event) if events else None
    if category is None:
        return found
    vague = category.vague and reason(events[0], view) not in category.telling
    vague = vague or all(event.kind == "echo" for event in events)
    return msgspec.structs.replace(found, layer=category.layer, vague=vague)
