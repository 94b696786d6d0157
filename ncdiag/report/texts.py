"""Sentences and lines of evidence as a report shows them."""

from __future__ import annotations

from collections.abc import Sequence

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Span
from ncdiag.facts.model import Fact
from ncdiag.language import is_english, say, tidy
from ncdiag.report import model

_SEVERAL_RANKS = lazy_regex(r"\b([Rr])ank (?=\d{1,9}[-,]\d)")
_SPOKEN = (
    ("Rank unknown", "A rank"),
    ("rank unknown", "a rank"),
    (" on unknown", ""),
)
_BEGINNINGS = tuple(instead for _, instead in _SPOKEN if instead)
"""Inserted words, which are capitalised at the start of a sentence."""


def spoken(text: str) -> str:
    """The text without placeholders for unknown things, such as a rank without number."""
    for word, instead in _SPOKEN:
        text = text.replace(say(word), say(instead))
    if not is_english():
        return tidy(text)
    text = _SEVERAL_RANKS.sub(r"\1anks ", text)
    return text[:1].upper() + text[1:] if text.startswith(_BEGINNINGS) else text


def evidence(spans: Sequence[Span]) -> tuple[model.Evidence, ...]:
    """The first lines of evidence."""
    return tuple(model.Evidence(s.source, s.line, s.text) for s in spans[: model.EVIDENCE_LIMIT])


def lines_of(fact: Fact) -> tuple[model.Evidence, ...]:
    """The lines from which a fact was read, or on which it rests."""
    return evidence(list(dict.fromkeys(fact.provenance.values())))
