"""Search a text for many literals at once, with `ahocorasick_rs` where it is installed."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

Search = Callable[[str], Sequence[tuple[int, int, int]]]
"""All places of literals in a text, overlapping ones too: the index of the literal, its start and its end."""


def search_for(literals: Sequence[str]) -> Search | None:
    """A search for these literals; None without the package, whose speed nothing in Python reaches."""
    package = _package()
    if package is None or not literals:
        return None
    table = package.AhoCorasick(literals, matchkind=package.MatchKind.Standard)
    return functools.partial(table.find_matches_as_indexes, overlapping=True)


@functools.cache
def _package() -> Any:  # noqa: ANN401  (a module without types)
    try:
        import ahocorasick_rs
    except ImportError:
        return None
    return ahocorasick_rs
