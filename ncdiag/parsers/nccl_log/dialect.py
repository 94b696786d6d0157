"""Which releases can have printed a line: a bound on the version where no line states it.

The releases are the tags of github.com/NVIDIA/nccl.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeVar

from ncdiag.facts.scalars import NEWEST, OLDEST, Constraint, Version, VersionRange

_TAGS = """
2.3.5 2.3.7 2.4.2 2.4.6 2.4.7 2.4.8 2.5.6 2.5.7 2.6.4 2.7.3 2.7.5 2.7.6 2.7.8 2.8.3 2.8.4 2.9.6 2.9.8 2.9.9
2.10.3 2.11.4 2.12.7 2.12.10 2.12.12 2.13.4 2.14.3 2.15.1 2.15.5 2.16.2 2.16.5 2.17.1 2.18.1 2.18.3 2.18.5
2.18.6 2.19.1 2.19.3 2.19.4 2.20.3 2.20.5 2.21.5 2.22.3 2.23.4 2.24.3 2.25.1 2.26.2 2.26.3 2.26.5 2.26.6
2.27.3 2.27.5 2.27.6 2.27.7 2.28.3 2.28.7 2.28.9 2.29.2 2.29.3 2.29.7 2.30.3 2.30.4 2.30.7
"""
RELEASES = tuple(version for tag in _TAGS.split() if (version := Version.parse(tag)) is not None)

Place = TypeVar("Place")


@functools.cache
def bounds(constraint: str) -> VersionRange | None:
    """The releases that ``constraint`` (``>=2.4,<2.21``) admits, as a range; None when it bounds nothing."""
    low, high = OLDEST, NEWEST
    for operator, version in Constraint.parse(constraint).parts:
        if operator == ">=":
            low = max(low, version)
        elif operator == "<":
            high = min(high, max((release for release in RELEASES if release < version), default=OLDEST))
    return None if (low, high) == (OLDEST, NEWEST) else VersionRange(low, high)


def narrowed(held: VersionRange | None, constraint: str) -> VersionRange | None:
    """``held`` cut down by one more line; a line that contradicts what is held is ignored."""
    new = bounds(constraint) if constraint else None
    if held is None or new is None:
        return held or new
    return held.intersect(new) or held


def contradictions(constraints: Mapping[str, Place], stated: str) -> Iterator[tuple[VersionRange, Place]]:
    """The releases of each constraint that the ``stated`` one (``2.18.3+cuda12.1``) is none of, with its place."""
    release = VersionRange.exact(stated)
    for constraint, place in constraints.items():
        admitted = bounds(constraint) if constraint else None
        if release is not None and admitted is not None and admitted.intersect(release) is None:
            yield admitted, place


def folded(constraints: Iterable[str]) -> VersionRange | None:
    """What is left when each constraint has narrowed what those before it left. Telling one twice changes nothing."""
    held: VersionRange | None = None
    for constraint in constraints:
        held = narrowed(held, constraint)
    return held
