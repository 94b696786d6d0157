"""Marks on the fields of facts, written as ``Annotated[type, MARK]``.

They define how two readings of a field are merged (`Merge`), when a collection holds everything that exists
(`Closing`), and what a missing value means (`Mark`). `ncdiag.facts.model.declared` reads them.
"""

from __future__ import annotations

import enum
import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, TypeVar

import msgspec

T = TypeVar("T")


class Merge(msgspec.Struct, frozen=True):
    """How two readings of a field are merged: ``combine(held, new)`` returns the merged value.

    ``picks`` is True when the result is one of the two values, so that its provenance is the line with that value. Two
    readings of a field without such a mark should be equal; where they differ, the stronger source wins
    (`ncdiag.facts.merge`).
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
"""All items of all sources, each once."""
BY_NAME = Merge(_by_name)
"""A mapping that several tools print in parts; for a key that appears twice, the later reading wins."""
COUNTS = Merge(_added)
"""A mapping from names to numbers, in which the numbers of equal names are added."""
SUM = Merge(operator.add)
GREATEST = Merge(max, picks=True)
LEAST = Merge(min, picks=True)
LATEST = Merge(_later, picks=True)
"""A value that changes over time: of two readings in one source the later one wins; sources have no order."""


def furthest(*values: str) -> Merge:
    """Merge the stages of a process, given in order: the later stage wins, whichever source comes first."""
    return Merge(lambda held, new: max(held, new, key=values.index), picks=True)


class Closing(msgspec.Struct, frozen=True):
    """When a collection is closed: ``test(owner, field)`` returns True if it holds everything that exists.

    ``kinds`` are the kinds of sections that can show that.
    """

    test: Callable[[Any, str], bool]
    kinds: frozenset[str] = frozenset()


def closed_by(*kinds: str) -> Closing:
    """Closed once a section of one of these kinds was seen whole (``Host.complete``)."""
    wanted = frozenset(kinds)
    return Closing(lambda owner, _: not wanted.isdisjoint(owner.complete), wanted)


def closed_if(flag: str, *kinds: str) -> Closing:
    """Closed where the field ``flag`` of the owner is True, which sections of ``kinds`` can show."""
    return Closing(lambda owner, _: getattr(owner, flag) is True, frozenset(kinds))


def closed_if_seen(*kinds: str) -> Closing:
    """Closed unless empty: sections of ``kinds`` always show the whole collection."""
    return Closing(lambda owner, field: bool(getattr(owner, field)), frozenset(kinds))


READ = Closing(lambda _owner, _field: True)
"""A collection that exists in the input alone, so that it is always closed."""

Open = Annotated[tuple[T, ...], Closing(lambda owner, field: field in owner.complete)]
"""A collection of Job, closed where ``Job.complete`` has its name."""


class Mark(enum.Enum):
    """A mark on a field: WHOLE and IF_UNSET say what a missing value means, OF_HOST what the value refers to.

    FACE says that the field identifies the entity among those that are otherwise equal.
    """

    WHOLE = "a key that is not in the table is known to be absent"
    IF_UNSET = "where the variable is known to be unset, no value is known to be absent"
    OF_HOST = "entities of the host, each of which becomes the one that the host has, of which more is known"
    FACE = "differs between entities that are otherwise equal: a number, an address, a time"


WHOLE, IF_UNSET, OF_HOST, FACE = Mark
