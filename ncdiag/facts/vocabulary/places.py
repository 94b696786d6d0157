"""Where a fact was printed."""

from __future__ import annotations

from ncdiag.base.spans import Span

Place = tuple[str, int]
"""A source, and a line number in it."""


def place(fact: object, field: str = "") -> Place | None:
    """The place where a fact, or one field of it, was printed; None if unknown."""
    provenance: dict[str, Span] = getattr(fact, "provenance", None) or {}
    span = provenance.get(field) or provenance.get("")
    return (span.source, span.line) if span is not None else None
