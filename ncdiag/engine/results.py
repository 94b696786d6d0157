"""The results of judging: a verdict for every rule, findings for those that fired, and the resulting diagnosis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import msgspec

from ncdiag.base.severity import Confidence, Severity
from ncdiag.base.spans import Span
from ncdiag.engine.schema import Rule
from ncdiag.engine.three_valued import Truth
from ncdiag.engine.where import Where

Word = Literal[
    "root-cause", "failed-cause-not-here", "complaint-nothing-seen", "risk-only", "healthy-as-far-as-seen",
    "nothing-understood",
]  # fmt: skip
"""The overall verdict: a cause was found; something failed, but the cause is not in the input; a person complains of
a failure that the input does not show; nothing failed, but something may; nothing is wrong; nothing was understood.
"""


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """A problem that was found. Instances of a rule that differ only in rank and host are one finding.

    ``severity``, ``role`` and ``layer`` are the rule's until the engine considers the outcome of the job: a ``risk``
    did not cause anything that failed (`ncdiag.engine.adjustment`). ``vague``: it says that something failed, not what.
    ``instances``: the facts bound to the rule's names, one mapping per instance (the first thousand of ``count``);
    ``evidence``: spans of the facts read, the bound ones first. ``explained_by`` and ``consequences`` are rule names.
    """

    rule: Rule
    severity: Severity
    role: Literal["cause", "symptom", "risk"]
    layer: int
    vague: bool = False
    title: str
    why: str
    confidence: Confidence
    where: Where
    evidence: tuple[Span, ...]
    instances: tuple[Mapping[str, Any], ...]
    count: int
    explained_by: tuple[str, ...] = ()
    consequences: tuple[str, ...] = ()

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts concerned, sorted."""
        return tuple(sorted(self.where.hosts))

    @property
    def ranks(self) -> tuple[int, ...]:
        """The ranks concerned, sorted."""
        return tuple(sorted(self.where.ranks))


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """The result of judging one rule.

    ``open_clauses``: conditions that were unknown in instances where none was false; ``held_clauses``: conditions on
    more than the job that were true in such instances; ``missing``: paths of ``each`` whose input was missing;
    ``closers``: the section kinds that show the missing input completely, by path; ``omitted``: the number of findings
    beyond the maximum per rule. ``fault``: the error of ncdiag that prevented judging it.
    """

    rule: Rule
    outcome: Literal["fired", "clear", "unknown", "not applicable"]
    findings: tuple[Finding, ...] = ()
    open_clauses: tuple[str, ...] = ()
    held_clauses: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    closers: Mapping[str, tuple[str, ...]] = {}
    omitted: int = 0
    fault: str = ""

    @property
    def needs(self) -> tuple[str, ...]:
        """The missing inputs, each with section kinds that would show it: ``h.hcas (any of: ibstat, show_gids)``."""
        return tuple(f"{path}{_any_of(self.closers.get(path, ()))}" for path in self.missing)


def _any_of(kinds: Sequence[str]) -> str:
    return f" ({'any of: ' if len(kinds) > 1 else ''}{', '.join(kinds)})" if kinds else ""


class Trace(msgspec.Struct, frozen=True, kw_only=True):
    """How one instance of a rule was judged: the facts bound, by label, and each condition with its result."""

    names: dict[str, str]
    when: tuple[tuple[str, Truth], ...]
    unless: tuple[tuple[str, Truth], ...]


class Unknown(msgspec.Struct, frozen=True):
    """A rule that could not be judged, what is missing, and the commands whose output would show it."""

    code: str
    name: str
    missing: tuple[str, ...]
    ask_for: tuple[str, ...]


class Reason(NamedTuple):
    """Why a candidate is excluded: a phrase, and the lines that show it."""

    text: str
    spans: tuple[Span, ...] = ()


class Diagnosis(msgspec.Struct, frozen=True, kw_only=True):
    """The result of judging all rules.

    ``findings``: the most likely answer first (`ncdiag.engine.order`); ``root_cause``: name of the first answer if that
    is a cause that was found. ``answers``: names of findings and suspects in their common order.
    ``excluded``: rules that would be candidates if a fact did not exclude them.
    """

    verdict: Word
    root_cause: str | None
    findings: tuple[Finding, ...]
    unknown: tuple[Unknown, ...]
    answers: tuple[str, ...] = ()
    excluded: tuple[tuple[Rule, Reason], ...] = ()
    faults: tuple[str, ...] = ()
