"""Explain failures that no specific rule covers, by their category, because one rule reports all of them.

A rule that names symptoms under ``explains`` explains every failure of the categories of these symptoms.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ncdiag.engine.results import Finding
from ncdiag.engine.schema import Rule
from ncdiag.facts.model import Event
from ncdiag.facts.view import View
from ncdiag.messages import about
from ncdiag.messages.vocabulary.phases import CARRYING, MEETING, phase_shown

REMOTE = frozenset({"tcp-transfer", "completion", "collective", "process-end", "job-end"})
"""Categories in which the failure of one rank shows on all others."""


class Floor:
    """The findings of rules of the floor (`ncdiag.engine.fallback`), and what explains them."""

    def __init__(self, findings: Sequence[Finding], rules: Iterable[Rule], view: View) -> None:
        """``rules`` are all rules that were judged, fired or not."""
        self._findings, self._view = findings, view
        self._floor = {index: _category(found) for index, found in enumerate(findings) if found.rule.floor}
        self._about: dict[str, frozenset[str]] = {}
        if self._floor:
            for rule in rules:
                of = _categories(rule)
                self._about |= dict.fromkeys((rule.name, *rule.formerly), of)

    def explained(self, cause: Finding) -> list[int]:
        """Indexes of the findings of the floor that this one explains, if they share a place."""
        if not self._floor or cause.severity == "info":
            return []
        named = set[str]().union(*(self._about.get(name, frozenset()) for name in cause.rule.explains))
        if not cause.rule.floor:
            named |= self._about.get(cause.rule.name, frozenset())
        live = cause.role == "cause" and cause.severity == "error"
        return [
            index for index, category in self._floor.items()
            if (found := self._findings[index]) is not cause
            and (
                category in named
                or ((live or (found.vague and not cause.vague and self._is_before(cause, found)))
                    and not (cause.rule.area in CARRYING and self._is_met_early(found)))
            )
        ]  # fmt: skip

    def _is_met_early(self, found: Finding) -> bool:
        """True if it failed before NCCL connects the transports for data."""
        return all(phase_shown(event, self._view) in MEETING for event in _events(found))

    def anywhere(self, cause: Finding, found: Finding) -> bool:
        """True if the explanation also holds across hosts: the failure is unspecific, or shows far from its cause."""
        return found.vague or (cause.role == "cause" and _category(found) in REMOTE)

    @staticmethod
    def _is_before(cause: Finding, found: Finding) -> bool:
        first, later = cause.where.order, found.where.order
        return first is None or later is None or first <= later or not cause.rule.floor


def _events(found: Finding) -> Iterator[Event]:
    """The events of the first instance of a finding."""
    return (entity for entity in (found.instances[0].values() if found.instances else ()) if isinstance(entity, Event))


def _category(found: Finding) -> str:
    return next((about.entry(event.event).category for event in _events(found)), "")


def _categories(rule: Rule) -> frozenset[str]:
    """The categories of the events that a rule iterates over."""
    bound = rule.program.each if rule.program is not None else ()
    names = (name for entry in bound for name in entry.events or ())
    return frozenset(about.entry(name).category for name in names) - {""}
