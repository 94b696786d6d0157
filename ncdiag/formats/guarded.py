"""Patterns that few lines match: each is tried in the lines that contain a literal it requires."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Mapping

from ncdiag.formats.literals import Literals, needed


class Guarded:
    """Some patterns, whose literals are searched together."""

    def __init__(
        self, *patterns: re.Pattern[str], known: Mapping[re.Pattern[str], Iterable[str]] | None = None
    ) -> None:
        """Each pattern must require a literal; ``known`` has those of patterns from which `needed` derives none."""
        self._known = known or {}
        self.patterns = (*self._known, *patterns)

    @functools.cached_property
    def _literals(self) -> Literals[re.Pattern[str]]:
        found = Literals[re.Pattern[str]]()
        for pattern in self.patterns:
            literals = self._known.get(pattern) or needed(pattern.pattern)
            if not literals:
                msg = f"no literal is in all that this pattern matches: {pattern.pattern}"
                raise ValueError(msg)
            found.add(pattern, literals)
        return found

    def of_lines(self, lines: Iterable[str]) -> Iterator[tuple[str, frozenset[re.Pattern[str]]]]:
        """Each line with the patterns that it may match; it matches no other."""
        return ((line, self._literals.owners(line)) for line in lines)

    def are_in(self, lines: Iterable[str]) -> bool:
        """Does any of the patterns match in one of the lines?"""
        return any(pattern.search(line) for line, may in self.of_lines(lines) for pattern in may)
