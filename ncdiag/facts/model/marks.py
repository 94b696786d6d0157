"""What a field of a fact says of itself beside its type, as ``Annotated[type, MARK]``.

How two readings of it become one (`Merge`), when a collection holds all there is (`Closing`), and what a value that is
missing means. `ncdiag.facts.model.declared` reads the marks.
"""

from __future__ import annotations

import enum
import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, TypeVar

import msgspec

T = TypeVar("T")


class Merge(msgspec.Struct, frozen=True):
    """``combine(held, new)`` is what two readings of a field say together.

    ``picks``: it is one of the two values, and rests on the line that has it. Two readings of a field without such a
    mark should be equal: where they are not, the stronger source counts (`ncdiag.facts.merge`).
    """

    combine: Callable[[Any, Any], Any]
    picks: bool = False


def _union(held: Iterable[Any] | None, new: Iterable[Any]) -> list[Any]:
    known = list(held or ())
    return [*known, *(item for item in new if item not in known)]


def _by_name(held: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    return {**held, **new}


def _added(held: Mapping[str, int], new: Mapping[str, int]) -> dict[str, int]:
    return {**held, **{name: held.get(name, 0) + count for name, count in new.items()}}


def _later(_: T, new: T) -> T:
    return new


UNION = Merge(_union)
"""Each source adds what it saw."""
BY_NAME = Merge(_by_name)
"""What several tools print in parts, by name: the later reading of a name counts."""
COUNTS = Merge(_added)
"""Numbers by name, which add up."""
SUM = Merge(operator.add)
GREATEST = Merge(max, picks=True)
LEAST = Merge(min, picks=True)
LATEST = Merge(_later, picks=True)
"""What changes while it is looked at: of two readings in one source, the later counts. Sources have no such order."""


def furthest(*values: str) -> Merge:
    """What a process goes through in this order: the reading that is further counts, whichever source comes first."""
    return Merge(lambda held, new: max(held, new, key=values.index), picks=True)


class Closing(msgspec.Struct, frozen=True):
    """``test(owner, field)`` tells whether a collection holds all there is; ``kinds`` of sections can show that."""

    test: Callable[[Any, str], bool]
    kinds: frozenset[str] = frozenset()


def closed_by(*kinds: str) -> Closing:
    """Closed once one of these section kinds was seen whole (``Host.complete``)."""
    wanted = frozenset(kinds)
    return Closing(lambda owner, _: not wanted.isdisjoint(owner.complete), wanted)


def closed_if(flag: str, *kinds: str) -> Closing:
    """Closed where the owner's field ``flag`` is True; sections of ``kinds`` say so."""
    return Closing(lambda owner, _: getattr(owner, flag) is True, frozenset(kinds))


def closed_if_seen(*kinds: str) -> Closing:
    """Closed unless it is empty: what sections of ``kinds`` show of it is all."""
    return Closing(lambda owner, field: bool(getattr(owner, field)), frozenset(kinds))


READ = Closing(lambda _owner, _field: True)
"""A collection of what is read off the input and is nowhere else: what is not in it is not there."""

Open = Annotated[tuple[T, ...], Closing(lambda owner, field: field in owner.complete)]
"""A collection of the job, closed where ``Job.complete`` has its name."""


class Mark(enum.Enum):
    """What else a field says: ``WHOLE`` and ``IF_UNSET``, what a missing value means; ``OF_HOST``, what it names."""

    WHOLE = "a key that is not in the table is known to be absent"
    IF_UNSET = "where the variable is known to be unset, no value is known to be absent"
    OF_HOST = "entities of the host, each of which becomes the one that the host has, of which more is known"


WHOLE, IF_UNSET, OF_HOST = Mark
