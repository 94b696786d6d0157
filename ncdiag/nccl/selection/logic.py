"""Yes, no and unknown (None), as the choices need them."""

from __future__ import annotations

from collections.abc import Iterable


def every(values: Iterable[bool | None]) -> bool | None:
    """Are all true? False as soon as one is known to be false."""
    found = list(values)
    return False if False in found else None if None in found else True


def some(values: Iterable[bool | None]) -> bool | None:
    """Is one true?"""
    found = list(values)
    return True if True in found else None if None in found else False
