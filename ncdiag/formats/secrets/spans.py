"""All ways in which one text shows a secret itself."""

from __future__ import annotations

from collections.abc import Iterator

from ncdiag.formats.secrets.cells import beside
from ncdiag.formats.secrets.commands import commands
from ncdiag.formats.secrets.pairs import pairs
from ncdiag.formats.secrets.phrases import phrases
from ncdiag.formats.secrets.prose import prose
from ncdiag.formats.secrets.tokens import Span
from ncdiag.formats.secrets.urls import schemes, urls

__all__ = ["named", "placed"]


def named(text: str) -> Iterator[Span]:
    """The spans of values that names or the fixed words of programs announce."""
    yield from pairs(text)
    yield from beside(text)
    yield from phrases(text)


def placed(text: str) -> Iterator[Span]:
    """The spans of values whose place makes them secrets: in a URL, a command, a sentence."""
    yield from urls(text)
    yield from schemes(text)
    yield from commands(text)
    yield from prose(text)
