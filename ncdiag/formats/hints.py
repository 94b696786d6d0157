"""Which of many patterns a text may match, by one search for the literals that they require."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

from ncdiag.base import compiled
from ncdiag.formats import literals
from ncdiag.formats.literals import Literals, needed


class Hints:
    """The literals of numbered patterns, derived once and kept in a cache file."""

    def __init__(self, name: str, sources: Sequence[str], patterns: Callable[[], Sequence[tuple[str, int]]]) -> None:
        """``name`` of the cache file, ``sources``: the modules that the patterns are from, each with its flags."""
        self.name, self._sources, self._patterns = name, (*sources, literals.__file__), patterns

    def build(self) -> tuple[frozenset[str], ...]:
        """The literals of each pattern, one of which each match contains; none if the pattern requires none."""
        return tuple(needed(pattern, flags) for pattern, flags in self._patterns())

    @functools.cached_property
    def _owners(self) -> tuple[Literals[int], frozenset[int]]:
        """The literals with the numbers of their patterns, and the patterns that require none."""
        needs = compiled.load(self.name, self._sources, self.build, tuple[frozenset[str], ...])
        found = Literals[int]()
        for number, alternatives in enumerate(needs):
            found.add(number, alternatives)
        return found, frozenset(number for number, alternatives in enumerate(needs) if not alternatives)

    def of(self, text: str) -> list[int]:
        """The numbers of the patterns that the text may match, ascending; it matches no other."""
        owners, always = self._owners
        return sorted(owners.owners(text) | always)
