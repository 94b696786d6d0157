"""Find the ranks that delay a job, from the flight recorder dumps of its ranks.

A call that a rank enqueued and that did not complete waits for the members of its process group that did not enqueue
it. Those may wait for others in turn: a rank that others wait for, and that waits for nobody, is late. A rank whose
call other members completed is stuck: it called, but its GPU does not finish. Sends and receives are matched by their
peers, since each rank numbers its own (pytorch torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp, pointToPoint).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator

import msgspec

from ncdiag.base.spans import Span
from ncdiag.facts.fold import fold_ranks
from ncdiag.facts.model import Difference, FlightEntry, FlightGroup, FlightRecord
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.outcome import open_failures
from ncdiag.facts.vocabulary.told import complains

OPEN = frozenset({"scheduled", "started"})
"""States of a call that did not complete."""
_EQUAL = frozenset({
    "all_reduce", "broadcast", "reduce", "_all_gather_base", "_reduce_scatter_base", "all_gather_single",
    "reduce_scatter_single",
})  # fmt: skip
"""Operations in which all ranks must pass the same number of elements."""
Group = tuple[str, tuple[int, ...]]
"""The name and the members of a process group: groups with the same name on different ranks are distinct."""
Call = tuple[Group, int]
"""A process group, and the number of a collective in it."""


class Dumps:
    """The dumps of a job by rank, and the collectives in them."""

    def __init__(self, records: Iterable[FlightRecord]) -> None:
        self.of = {
            -1 - number if record.rank is None else record.rank: record for number, record in enumerate(records)
        }  # ranks without a known number are below 0, members of no group
        self.groups = {
            rank: {group.name: group for group in record.groups if group.ranks} for rank, record in self.of.items()
        }
        self.called: dict[Call, dict[int, FlightEntry]] = defaultdict(dict)
        self.furthest: dict[tuple[int, Group], int] = {}
        self.peers: dict[int, set[int]] = defaultdict(set)  # peers of open sends and receives
        self.mixed: set[Group] = set()  # groups that also send: their last call may be a send, numbered separately
        self._absent: dict[Call, list[int]] = {}
        for rank, record in self.of.items():
            for entry in record.entries:
                self._add(rank, entry)

    def _add(self, rank: int, entry: FlightEntry) -> None:
        group = self.group(rank, entry)
        if group is None:
            return
        if entry.is_p2p:
            self.mixed.add(group)
            peer = peer_of(entry)
            if peer is not None and entry.state in OPEN:
                self.peers[rank].add(peer)
            return
        if entry.after_p2p:
            self.mixed.add(group)
        if (number := self.number(rank, entry)) is not None:
            self.called[group, number][rank] = entry
            self.furthest[rank, group] = max(number, self.furthest.get((rank, group), -1))

    def group(self, rank: int, entry: FlightEntry) -> Group | None:
        """Return the group of a call; None where its members are not known."""
        found = self.groups[rank].get(entry.group or "")
        return (found.name, found.ranks) if found is not None and found.ranks else None

    def number(self, rank: int, entry: FlightEntry) -> int | None:
        """Return the number of a collective; for an open one without a number, that of the latest in its group."""
        found = self.groups[rank].get(entry.group or "")
        latest = found.last_enqueued if found is not None and entry.state in OPEN else None
        return entry.sequence if entry.sequence is not None else latest

    def open(self, rank: int) -> Iterator[FlightEntry]:
        """Yield the calls of a rank that did not complete, in the order in which it enqueued them."""
        return (entry for entry in self.of[rank].entries if entry.state in OPEN)

    def absent(self, call: Call) -> list[int]:
        """Return the members whose dumps show that they did not enqueue the collective, sorted.

        Cached for all that wait.
        """
        if call not in self._absent:
            (name, members), sequence = call
            seen = (rank for rank in members if rank in self.of and name in self.groups[rank])
            self._absent[call] = sorted(rank for rank in seen if self._enqueued(rank, call[0]) < sequence)
        return self._absent[call]

    def completed(self, call: Call) -> set[int]:
        """Return the members that completed a collective."""
        group, sequence = call
        told = {rank for rank, entry in self.called[call].items() if entry.state == "completed"}
        states = {rank: self._state(rank, group) for rank in group[1] if rank in self.of}
        return told | {
            rank for rank, state in states.items() if state is not None and (state.last_completed or -1) >= sequence
        }

    def _enqueued(self, rank: int, group: Group) -> int:
        state = self._state(rank, group)
        told = state.last_enqueued if state is not None and state.last_enqueued is not None else -1
        return max(told, self.furthest.get((rank, group), -1))

    def _state(self, rank: int, group: Group) -> FlightGroup | None:
        """The state of the group in the dump; None where its numbers include sends."""
        return None if group in self.mixed else self.groups[rank].get(group[0])


def dumps_of(view: View) -> Dumps:
    """Return the dumps of the job, prepared once."""
    return view.remembered(("flight recorder dumps",), lambda: Dumps(settled(r, view) for r in view.job.flight_records))


def settled(record: FlightRecord, view: View) -> FlightRecord:
    """The record without the calls that may just be under way.

    A dump is written when something is wrong, a log of calls all the time: its open calls are waits where the job is
    said to hang, or something failed.
    """
    if not record.live or "hangs" in complains(view.job, view) or view.job.timeouts or open_failures(view.job, view):
        return record
    entries = (msgspec.structs.replace(e, state=None) if e.state in OPEN else e for e in record.entries)
    return msgspec.structs.replace(record, entries=tuple(entries))


def peer_of(entry: FlightEntry) -> int | None:
    """Return the rank at the other end of a send or a receive."""
    return entry.to_rank if entry.to_rank is not None else entry.from_rank


def mismatches(dumps: Dumps) -> Iterator[tuple[int, dict[str, list[int]]]]:
    """Yield the first collective of each group whose operation or size differs: its number, and the ranks by call."""
    seen: set[Group] = set()
    for (group, sequence), entries in sorted(dumps.called.items()):
        if group in seen or len(entries) < 2:  # noqa: PLR2004  (one rank alone disagrees with nobody)
            continue
        calls: dict[str, list[int]] = defaultdict(list)
        for rank, entry in sorted(entries.items()):
            calls[_spelled(entry)].append(rank)
        if len(calls) > 1:
            seen.add(group)
            yield sequence, calls


def _spelled(entry: FlightEntry) -> str:
    name = _operation(entry)
    return f"{name} of {entry.shape}" if entry.shape and name in _EQUAL else name


def _operation(entry: FlightEntry) -> str:
    """The name of the operation without the backend before it: ``all_reduce``."""
    return (entry.operation or "collective").rpartition(":")[2]


def waits(dumps: Dumps) -> Iterator[Difference]:
    """Yield the collectives in which ranks wait, and the ranks that they wait for."""
    edges = {rank: list(_waits_for(dumps, rank)) for rank in dumps.of}
    waited_for = {late for found in edges.values() for late, _ in found}
    late = {rank for rank in waited_for if not edges.get(rank)}
    if late:
        waiting = {rank for rank, found in edges.items() if found}
        calls = [next((name for rank, name in found if rank in late), None) for found in edges.values()]
        ((most, _),) = Counter(name for name in calls if name is not None).most_common(1)
        groups = {"waiting": named(waiting), "late": named(late)}
        spans = provenance(dumps, [*sorted(waiting), *sorted(late)])
        yield Difference(what="wait", name=most, groups=groups, provenance=spans)
    elif not waited_for:
        yield from _together(dumps)


def _waits_for(dumps: Dumps, rank: int) -> Iterator[tuple[int, str]]:
    """The ranks that a rank waits for, each with the call in which it waits."""
    yield from _absentees(dumps, rank)
    for entry in dumps.open(rank):
        peer = peer_of(entry)
        if entry.is_p2p and peer in dumps.of and rank not in dumps.peers[peer]:
            yield peer, f"{_operation(entry)} number {entry.sequence}"


def _absentees(dumps: Dumps, rank: int) -> Iterator[tuple[int, str]]:
    """The ranks that did not enter a collective in which a rank waits."""
    for entry in dumps.open(rank):
        group, number = dumps.group(rank, entry), dumps.number(rank, entry)
        if group is not None and not entry.is_p2p and number is not None:
            for late in dumps.absent((group, number)):
                yield late, _name(dumps, rank, entry)


def _name(dumps: Dumps, rank: int, entry: FlightEntry) -> str:
    """The call as text: ``all_reduce number 8 of process group 72 (EXPERT_MODEL_PARALLEL_GROUP)``."""
    found = dumps.groups[rank].get(entry.group or "")
    purpose = f" ({found.purpose})" if found is not None and found.purpose else ""
    return f"{_operation(entry)} number {dumps.number(rank, entry)} of process group {entry.group}{purpose}"


def _together(dumps: Dumps) -> Iterator[Difference]:
    """A collective that all members entered and in which several wait."""
    for (group, _), entries in sorted(dumps.called.items()):
        waiting = {rank for rank, entry in entries.items() if entry.state in OPEN}
        if len(waiting) > 1 and waiting == set(group[1]):
            rank = min(waiting)
            name = _name(dumps, rank, entries[rank])
            yield Difference(
                what="wait",
                name=name,
                groups={"waiting": named(waiting)},
                provenance=provenance(dumps, sorted(waiting)),
            )
            return


def stuck(dumps: Dumps) -> Iterator[Difference]:
    """Yield ranks that did not finish the first collective that they wait in, and those that completed it."""
    found: dict[str, tuple[set[int], set[int]]] = defaultdict(lambda: (set(), set()))
    for rank in sorted(dumps.of):
        entry = next((entry for entry in dumps.open(rank) if not entry.is_p2p), None)
        group, number = (None, None) if entry is None else (dumps.group(rank, entry), dumps.number(rank, entry))
        if entry is None or group is None or number is None:
            continue
        others = dumps.completed((group, number)) - {rank}
        if others:
            name = f"{_operation(entry)} number {number}"
            found[name][0].add(rank)
            found[name][1].update(others)
    for name, (ranks, others) in found.items():
        groups = {"stuck": named(ranks), "through": named(others - ranks or others)}
        spans = provenance(dumps, [*sorted(ranks), *sorted(others)])
        yield Difference(what="stuck", name=name, groups=groups, provenance=spans)


def circle(dumps: Dumps) -> list[tuple[int, str]]:
    """Return ranks that wait for each other in a circle, each with its collective; empty where none do.

    Each of them called first what the next one calls later.
    """
    after = {rank: next(_absentees(dumps, rank), None) for rank in sorted(dumps.of)}
    for start in after:
        path: dict[int, str] = {}
        rank = start
        while rank not in path and (step := after.get(rank)) is not None:
            late, path[rank] = step
            rank = late
        if path and rank == start:
            return list(path.items())
    return []


def provenance(dumps: Dumps, ranks: Collection[int]) -> dict[str, Span]:
    """Return the places of the dumps of these ranks."""
    spans = dict.fromkeys(dumps.of[rank].provenance.get("", Span("", 0)) for rank in ranks if rank in dumps.of)
    return {str(number): span for number, span in enumerate(spans)}


def named(ranks: Collection[int]) -> str:
    """Return the ranks as text, ``ranks 2-4,7``; ``2 of the ranks`` where some numbers are unknown."""
    if min(ranks, default=0) < 0:
        return f"{len(ranks)} of the ranks"
    return f"{'rank' if len(ranks) == 1 else 'ranks'} {fold_ranks(ranks)}"
