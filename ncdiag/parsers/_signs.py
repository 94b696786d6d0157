"""Literals, one of which is in every line that dearer patterns know: few lines have one, and those alone are tried.

The signs of all readers are looked for at once.
"""

from __future__ import annotations

import functools

from ncdiag.formats.literals import Literals


class Signs:
    """The signs of one reader."""

    def __init__(self, *signs: str) -> None:
        """In small letters, and with 0 for any digit."""
        _all.add(self, signs)
        _found.cache_clear()

    def stand_in(self, text: str) -> bool:
        """Is one of the signs in the text, be it in large letters?"""
        return self in _found(text)


def are_in(text: str) -> bool:
    """Is a sign of any reader in the text? The same for all texts that differ in digits alone."""
    return bool(_found(text))


_all = Literals[Signs]()


@functools.lru_cache(16)
def _found(text: str) -> frozenset[Signs]:
    """Whose signs are in a text; several readers ask of one line, one after the other."""
    return _all.owners(text)
