"""Translate English sentences of facts and values in a report.

The texts of rules and of `ncdiag.report` are translated already. Quoted lines, names, codes and what people wrote are
not changed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

import msgspec

from ncdiag.language import is_english, phrase, say
from ncdiag.report.differences import Change, Comparison
from ncdiag.report.model import Look, Part, Report

Piece = TypeVar("Piece", Part, Change, Comparison)


def localised(report: Report) -> Report:
    """The report with its sentences translated by `ncdiag.language.phrase`; the same report for English."""
    if is_english():
        return report
    summary = msgspec.structs.replace(report.summary, not_looked_at=_all(report.summary.not_looked_at))
    baseline = report.baseline
    if baseline is not None:
        baseline = msgspec.structs.replace(baseline, changes=_each(baseline.changes, "why"))
    complaints = [found if found.told else _said(found, "text", "where") for found in report.complaints]
    return msgspec.structs.replace(
        report, summary=summary, baseline=baseline, complaints=tuple(complaints),
        inputs=tuple(msgspec.structs.replace(item, notes=_all(item.notes)) for item in report.inputs),
        unknown=tuple(msgspec.structs.replace(item, missing=_all(item.missing)) for item in report.unknown),
        timeline=_each(report.timeline, "who", "text"), ruled_out=_each(report.ruled_out, "what", "because"),
        looks=tuple(map(_look, report.looks)), comparison=_each(report.comparison, "why"),
        expired=_all(report.expired), next_steps=_each(report.next_steps, "text"),
    )  # fmt: skip


def _look(look: Look) -> Look:
    """A check; a single word of a closed vocabulary is translated, too."""
    what, seen, expected = map(say, (look.what, look.seen, look.expected))
    return msgspec.structs.replace(look, what=what, seen=phrase(seen), expected=phrase(expected), why=phrase(look.why))


def _all(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(map(phrase, texts))


def _each(parts: Iterable[Piece], *fields: str) -> tuple[Piece, ...]:
    return tuple(_said(part, *fields) for part in parts)


def _said(part: Piece, *fields: str) -> Piece:
    return msgspec.structs.replace(part, **{name: phrase(getattr(part, name)) for name in fields})
