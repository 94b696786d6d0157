"""Literals, one of which is in every line that dearer patterns know: few lines have one, and those alone are tried."""

from __future__ import annotations

from ncdiag.formats.literals import SHARED


class Signs:
    """The signs of one reader."""

    def __init__(self, *signs: str) -> None:
        """In small letters, and with 0 for any digit."""
        self._bit = SHARED.add(signs)
        _ALL.append(self._bit)

    def stand_in(self, text: str) -> bool:
        """Is one of the signs in the text, be it in large letters, or in the line that it is of?"""
        return self._bit & SHARED.of(text)[0] != 0


_ALL: list[int] = []


def are_in(text: str) -> bool:
    """Is a sign of any reader in the text? The same for all texts that differ in digits alone."""
    found = SHARED.in_all(text)[0]
    return any(bit & found for bit in _ALL)
