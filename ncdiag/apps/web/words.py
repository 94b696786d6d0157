"""The sentences of the page in each language (`words.toml`)."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path

from ncdiag.base import toml
from ncdiag.language import ENGLISH

LANGUAGES = {ENGLISH: "English", "zh": "中文"}
"""Languages of the page by code, each by its native name."""


@functools.cache
def table() -> Mapping[str, Mapping[str, str]]:
    """All sentences: by language, then by word."""
    path = Path(__file__).with_name("words.toml")
    read = toml.definition(toml.text_of(path), str(path))
    return {code: {word: said[code] for word, said in read.items()} for code in LANGUAGES}


def words(language: str) -> Mapping[str, str]:
    """The sentences in a language; English for an unknown code."""
    return table().get(language, table()[ENGLISH])


def accepted(header: str) -> str:
    """The language of the page that a browser prefers (RFC 9110, Accept-Language)."""
    ranked: list[tuple[float, str]] = []
    for part in header.lower().split(",")[:20]:
        tag, _, weight = part.partition(";")
        try:
            rank = float(weight.strip().removeprefix("q=")) if weight else 1.0
        except ValueError:
            continue
        if rank > 0:  # 0: not acceptable
            ranked.append((-rank, tag.strip().partition("-")[0]))
    return next((code for _, code in sorted(ranked, key=lambda pair: pair[0]) if code in LANGUAGES), ENGLISH)
