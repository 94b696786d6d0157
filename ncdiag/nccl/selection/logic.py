"""Three-valued logic: True, False and unknown (None)."""

from __future__ import annotations

from collections.abc import Iterable


def every(values: Iterable[bool | None]) -> bool | None:
    """Are all values True? False if any is False, else None if any is unknown."""
    found = list(values)
    return False if False in found else None if None in found else True


def some(values: Iterable[bool | None]) -> bool | None:
    """Is any value True? False if all are False, else None if the others are unknown."""
    found = list(values)
    return True if True in found else None if None in found else False
