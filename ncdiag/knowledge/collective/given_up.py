"""Collectives in which ranks timed out (PyTorch), compared by sequence number, operation and size."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Job, Timeout
from ncdiag.facts.view import View

EQUAL_SIZES = {"ALLREDUCE", "BROADCAST", "REDUCE", "_ALLGATHER_BASE", "_REDUCE_SCATTER_BASE"}
"""Operations in which all ranks must pass the same number of elements."""
_ALL, UNNAMED = "0", "?"
"""The number of the group of all ranks, and the placeholder for a group that no line names."""
_BY_CHANCE = 10
"""Up to this number of collectives, several groups may be at the same number by chance."""
Place = tuple[str, int]
"""The process group and sequence number of a collective."""


def by_collective(timeouts: Sequence[Timeout]) -> dict[Place, list[Timeout]]:
    """The timeouts of the group of all ranks, by collective.

    The group may come from another line of the rank about the same number, or from other ranks if all name the same.
    Where no line names a group (PyTorch before 2.2), numbers that no small group reaches by chance are under `UNNAMED`.
    """
    groups = {(t.rank, t.sequence): _number(t) for t in timeouts if t.process_group is not None}
    named = set(groups.values())
    common = UNNAMED if not named else next(iter(named)) if len(named) == 1 else ""
    found: dict[Place, list[Timeout]] = defaultdict(list)
    for timeout in timeouts:
        group = groups.get((timeout.rank, timeout.sequence), common)
        if not timeout.given_up or timeout.sequence is None or not timeout.operation:
            continue
        if group == _ALL or (group == UNNAMED and timeout.sequence > _BY_CHANCE):
            found[group, timeout.sequence].append(timeout)
    return found


def _number(timeout: Timeout) -> str:
    return (timeout.process_group or "").partition("(")[0]


@derived
def gave_up_one_apart(job: Job, view: View) -> bool | None:
    """Did ranks of one group time out in different operations whose numbers are one apart? None without timeouts.

    The rank with the higher number got past a collective in which another still waits: it called one more or one less.
    """
    places = by_collective(job.timeouts)
    if not places:
        return None
    for (group, sequence), waiting in places.items():
        further = places.get((group, sequence + 1), [])
        if further and {t.operation for t in waiting}.isdisjoint({t.operation for t in further}):
            view.note(waiting[0])
            return True
    return False


@derived
def gave_up_in_other_sizes(job: Job, view: View) -> bool | None:
    """Did ranks time out in the same operation at the same sequence number with different sizes? None without timeouts.

    If no line names the group, these may be different groups, so this proves nothing.
    """
    places = by_collective(job.timeouts)
    for waiting in places.values():
        sizes = {(t.operation, t.numel_in): t for t in waiting if t.numel_in is not None}
        if len(sizes) > 1 and len({operation for operation, _ in sizes} - EQUAL_SIZES) == 0:
            for timeout in sizes.values():
                view.note(timeout)
            return True
    return False if places else None
