"""Literals, one of which stands in every line that dearer patterns know: few lines have one, and those alone are tried.

All signs are looked for at once, by the words of a line, as the words of a log come again and again.
"""

from __future__ import annotations

import functools

_REMEMBERED = 1 << 16
_ZEROS = str.maketrans("123456789", "000000000")


class Signs:
    """The signs of one reader."""

    def __init__(self, *signs: str) -> None:
        """In small letters, and with 0 for any digit."""
        _words.add(self, signs)
        _found.cache_clear()

    def stand_in(self, text: str) -> bool:
        """Is one of the signs in the text, be it in large letters?"""
        return self in _found(text)


def are_in(text: str) -> bool:
    """Is a sign of any reader in the text? The same for all texts that differ in digits alone."""
    return bool(_found(text))


class _Words(dict[str, tuple[tuple[str, Signs], ...]]):
    """The signs of which a word may be a part: it holds their longest word."""

    def __init__(self) -> None:
        super().__init__()
        self._signs: list[tuple[str, tuple[str, Signs]]] = []

    def add(self, owner: Signs, signs: tuple[str, ...]) -> None:
        self._signs += [(max(sign.split(), key=len), (sign, owner)) for sign in signs]
        self.clear()

    def __missing__(self, word: str) -> tuple[tuple[str, Signs], ...]:
        if len(self) >= _REMEMBERED:
            self.clear()
        held = self[word] = tuple(sign for part, sign in self._signs if part in word)
        return held


_words = _Words()


@functools.lru_cache(16)
def _found(text: str) -> frozenset[Signs]:
    """Whose signs stand in a text; several readers ask of one line, one after the other."""
    text = text.lower().translate(_ZEROS)
    parts = filter(None, map(_words.__getitem__, text.split()))
    return frozenset(owner for signs in parts for sign, owner in signs if sign in text)
