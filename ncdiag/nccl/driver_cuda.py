"""The CUDA release of each branch of NVIDIA's driver: the newest release that it runs without additional packages.

Source: CUDA Toolkit release notes, table "CUDA Toolkit and Corresponding Driver Versions" (Linux); a branch in between
belongs to the release before. The compat package of CUDA makes a driver support newer releases.
"""

from __future__ import annotations

import re

Release = tuple[int, int]
"""A release of CUDA, such as (12, 4)."""

_FIRST_BRANCH: tuple[tuple[int, Release], ...] = (
    (580, (13, 0)), (575, (12, 9)), (570, (12, 8)), (560, (12, 6)), (555, (12, 5)), (550, (12, 4)), (545, (12, 3)),
    (535, (12, 2)), (530, (12, 1)), (525, (12, 0)), (520, (11, 8)), (515, (11, 7)), (510, (11, 6)), (495, (11, 5)),
    (470, (11, 4)), (465, (11, 3)), (460, (11, 2)), (455, (11, 1)), (450, (11, 0)), (440, (10, 2)), (418, (10, 1)),
    (410, (10, 0)), (396, (9, 2)), (390, (9, 1)), (384, (9, 0)),
)  # fmt: skip
_NEWEST = 585
"""Branches from this one on belong to releases that are not in the table."""
_CUDA = r"(?:^|\+|\s)(?:cu(?:da)?\s?)?(\d{1,2})\.?(\d{1,2})(?:\.\d+)?$"
_BRANCH = r"\d{3}\b"


def of_driver(release: str) -> Release | None:
    """Return the CUDA release of a driver such as ``460.27.04`` or ``driver 460``.

    None for one that is not in the table.
    """
    found = re.search(_BRANCH, release)
    branch = int(found[0]) if found else _NEWEST
    return next((cuda for first, cuda in _FIRST_BRANCH if first <= branch < _NEWEST), None)


def read(text: str) -> Release | None:
    """Return the CUDA release at the end of a text: ``12.4``, ``2.18.3+cuda12.1``, ``2.4.1+cu124``.

    None without one.
    """
    found = re.search(_CUDA, text)
    return (int(found[1]), int(found[2])) if found else None
