"""Patterns that are tried only in texts with one of the literals that they require.

Most lines have a word that could announce a secret, and match one of these patterns or none. The literals of all of
them are searched together, once for each text.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator

from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.literals import Literals, folded, needed

__all__ = ["Signed"]

_TEXTS = 64
"""Number of texts whose literals are remembered: a line and what is below its layers are searched by many patterns."""


class Signed:
    """A pattern with the methods of `re.Pattern` that search a whole text."""

    def __init__(self, pattern: str, flags: int = 0, signs: Iterable[str] = ()) -> None:
        """``signs`` are literals, in lower case, one of which is in every text that the pattern matches.

        They are derived from the pattern if it requires some in each of its branches; ValueError if there are none.
        """
        self._pattern = lazy_regex(pattern, flags)
        self._signs = frozenset(map(folded, signs)) or needed(pattern)
        if not self._signs:
            msg = f"no literal is in all that this pattern matches: {pattern}"
            raise ValueError(msg)
        _ALL.append(self)
        _literals.cache_clear()
        _found_in.cache_clear()

    @property
    def signs(self) -> frozenset[str]:
        """The literals, one of which a text must have."""
        return self._signs

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
