"""Patterns that are tried only in texts with one of the literals that they require.

Most lines have a word that could announce a secret, and match one of these patterns or none. The literals of all of
them are searched together, once for each text.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator

from ncdiag.base import compiled
from ncdiag.base.patterns import lazy_regex
from ncdiag.formats import literals
from ncdiag.formats.literals import Literals, folded, needed

__all__ = ["NAME", "Signed", "build"]

NAME = "signs-of-secrets"
"""The name of the compiled literals."""
_TEXTS = 64
"""Number of texts whose literals are remembered: a line and what is below its layers are searched by many patterns."""


class Signed:
    """A pattern with the methods of `re.Pattern` that search a whole text."""

    def __init__(self, pattern: str, flags: int = 0, signs: Iterable[str] = ()) -> None:
        """``signs`` are literals, in lower case, one of which is in every text that the pattern matches.

        They are derived from the pattern if it requires some in each of its branches.
        """
        self._pattern = lazy_regex(pattern, flags)
        self.declared = frozenset(map(folded, signs))
        _ALL.append(self)
        _literals.cache_clear()
        _found_in.cache_clear()

    @property
    def pattern(self) -> str:
        """The pattern as it was written."""
        return self._pattern.pattern

    @functools.cached_property
    def signs(self) -> frozenset[str]:
        """The literals, one of which a text must have. Raises ValueError if there are none."""
        found = self.declared or frozenset(_derived().get(self.pattern, ())) or needed(self.pattern)
        if not found:
            msg = f"no literal is in all that this pattern matches: {self.pattern}"
            raise ValueError(msg)
        return found

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """All matches in the text."""
        return self._pattern.finditer(text) if self in _found_in(text) else iter(())

    def search(self, text: str) -> re.Match[str] | None:
        """The first match in the text."""
        return self._pattern.search(text) if self in _found_in(text) else None

    def match(self, text: str) -> re.Match[str] | None:
        """The match at the start of the text."""
        return self._pattern.match(text) if self in _found_in(text) else None


_ALL: list[Signed] = []


def build() -> dict[str, tuple[str, ...]]:
    """The literals of the patterns that declare none, by pattern: deriving them takes longer than a short search.

    Whoever calls it has imported `ncdiag.formats.secrets.remover`, and with it all modules that have such patterns.
    """
    return {each.pattern: tuple(sorted(needed(each.pattern))) for each in _ALL if not each.declared}


def _derived() -> dict[str, tuple[str, ...]]:
    sources = (*compiled.files(compiled.PACKAGE / "formats" / "secrets", ".py"), literals.__file__)
    return compiled.hold(NAME, sources, build, dict[str, tuple[str, ...]])


@functools.lru_cache(maxsize=1)
def _literals() -> Literals[Signed]:
    found = Literals[Signed]()
    for each in _ALL:
        found.add(each, each.signs)
    return found


@functools.lru_cache(maxsize=_TEXTS)
def _found_in(text: str) -> frozenset[Signed]:
    """The patterns that have a literal in the text."""
    return _literals().owners(text)
