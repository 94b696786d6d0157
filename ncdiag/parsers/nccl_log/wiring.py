"""Who is joined with whom: the connections and rings that the lines of one process tell, and whose they are.

A ``Channel`` line names ranks of a communicator, but not the communicator: `ncdiag.parsers.nccl_log.owners` finds it.
What is equal but for its channel is counted, so that memory grows with pairs of ranks.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from ncdiag.base.patterns import lazy_regex
from ncdiag.parsers.nccl_log.lives import Lives
from ncdiag.parsers.nccl_log.owners import Owners
from ncdiag.parsers.nccl_log.transports import Link

CONNECTIONS_LIMIT = 128
"""Different connections that are kept of one process: as many as a rank has to 64 others, both ways."""
RINGS_LIMIT, STOPS_LIMIT = 64, 1 << 15
"""Orders of rings that are kept of one process, and the bytes of all of them."""
PLACES_LIMIT = 512
"""Places in rings that are kept of one process."""

_DIGITS = 10
_ORDER = lazy_regex(rb"NCCL INFO Channel (\d{1,4})(?:/(\d{1,4}))? : ")
_PLACE = lazy_regex(rb"(\d{1,9}) -> (\d{1,9}) -> (\d{1,9})(?: |$)")


class Edge(NamedTuple):
    """A connection as a thread of a process told it."""

    thread: int | None
    source: int
    target: int
    transport: str
    way: str | None
    nic: int | None

    @property
    def printed_by(self) -> tuple[int, ...]:
        """The ranks that may have printed it: 2.3 does not say on which side of a network it is."""
        if self.way is None and self.nic is not None:
            return self.source, self.target
        return (self.target if self.way == "receive" else self.source,)


class Order(NamedTuple):
    """The order of a ring, as printed: the first channel that has it, and how many channels there are."""

    thread: int | None
    channel: int
    channels: int | None
    text: bytes


class Place(NamedTuple):
    """A rank between its neighbours in the rings of some channels."""

    thread: int | None
    before: int
    rank: int
    after: int


class Seen:
    """How often something was told, and in which line first."""

    __slots__ = ("count", "line")

    def __init__(self, line: int) -> None:
        """Not yet counted."""
        self.line, self.count = line, 0


T = TypeVar("T", Edge, Place)


def place_of(rest: bytes) -> tuple[int, int, int] | None:
    """Read ``7 -> 0 -> 1``; None for anything else."""
    found = _PLACE.match(rest)
    return None if found is None else (int(found[1]), int(found[2]), int(found[3]))


class Wiring:
    """What the lines of one process told of its neighbours."""

    __slots__ = ("_edges", "_orders", "_places")

    def __init__(self) -> None:
        """Nothing yet."""
        self._edges: dict[Edge, Seen] = {}
        self._orders: dict[tuple[int | None, bytes], tuple[Order, Seen]] = {}
        self._places: dict[Place, Seen] = {}

    def edge(self, thread: int | None, link: Link, line: int) -> Seen | None:
        """Where a connection is counted; None of one too many, and of one with a switch that reduces."""
        if link.peer is None:
            return None
        source, target = (link.peer, link.rank) if link.receives else (link.rank, link.peer)
        way = ("receive" if link.receives else "send") if link.way else None
        return _put(self._edges, Edge(thread, source, target, link.transport, way, link.nic), line, CONNECTIONS_LIMIT)

    def order(self, thread: int | None, rest: bytes, told: bytes, line: int) -> Seen | None:
        """Where the order of a ring is counted: ``rest`` of the line ``told``. None of one too many."""
        named = _ORDER.search(told)
        if named is None:
            return None
        return self._order(Order(thread, int(named[1]), int(named[2]) if named[2] else None, rest), line)

    def _order(self, order: Order, line: int) -> Seen | None:
        place = order.thread, order.text
        if place not in self._orders:
            size = len(order.text) + sum(len(text) for _, text in self._orders)
            if len(self._orders) >= RINGS_LIMIT or size > STOPS_LIMIT:
                return None
            self._orders[place] = order, Seen(line)
        seen = self._orders[place][1]
        seen.line = min(seen.line, line)
        return seen

    def place(self, thread: int | None, told: tuple[int, int, int], line: int) -> Seen | None:
        """Where a place in rings is counted: the rank before, the rank itself, the rank after. None of one too many."""
        return _put(self._places, Place(thread, *told), line, PLACES_LIMIT)

    def merge(self, later: Wiring) -> None:
        """Add what a later part of the log told of the same process."""
        for edge, seen in later._edges.items():
            _count(_put(self._edges, edge, seen.line, CONNECTIONS_LIMIT), seen)
        for order, seen in later._orders.values():
            _count(self._order(order, seen.line), seen)
        for place, seen in later._places.items():
            _count(_put(self._places, place, seen.line, PLACES_LIMIT), seen)

    def told(self, lives: Lives) -> dict[str, list[dict[str, Any]]]:
        """Fields of a rank, those that are told; ``lives`` are the communicators of the process."""
        if not (self._edges or self._orders or self._places):
            return {}
        found = lives.all()
        named = [kept for pointer, kept in found.items() if pointer] or found.values()  # "Init timings" names none
        owners = Owners(itertools.chain.from_iterable(named), lives.gap)
        fields = {
            "connections": _summed(_connections(self._edges, owners)),
            "rings": _summed(_rings(self._orders.values(), owners)),
            "ring_places": _summed(_places(self._places, owners)),
        }
        return {name: value for name, value in fields.items() if value}


def together(told: Sequence[Wiring]) -> Wiring:
    """What several threads of a process told."""
    if len(told) == 1:
        return told[0]
    found = Wiring()
    for one in told:
        found.merge(one)
    return found


Told = tuple[dict[str, Any], int]
"""What a line tells, and how many tell it."""


def _connections(edges: Mapping[Edge, Seen], owners: Owners) -> Iterator[Told]:
    for edge, seen in sorted(edges.items(), key=_by_ranks):
        whose = owners.of(edge.thread, edge.printed_by, max(edge.source, edge.target), seen.line)
        fields = {
            **whose, "source": edge.source, "target": edge.target, "transport": edge.transport, "way": edge.way,
            "nic": edge.nic,
        }  # fmt: skip
        yield {name: value for name, value in fields.items() if value is not None}, seen.count


def _rings(orders: Iterable[tuple[Order, Seen]], owners: Owners) -> Iterator[Told]:
    for order, seen in sorted(orders, key=_by_ranks):
        numbers = _numbers(order.text)
        if numbers:
            fields = {**owners.of(order.thread, numbers[:1], max(numbers), seen.line), "channel": order.channel}
            more = {"channels": order.channels} if order.channels is not None else {}
            yield {**fields, **more, "order": numbers}, seen.count


def _numbers(text: bytes) -> list[int]:
    """The ranks of an order. One that was cut ends in dots, and the number before them may have been cut as well."""
    words = text.split()
    if words and words[-1].endswith(b"."):
        words.pop()
    return list(map(int, words)) if all(word.isdigit() and len(word) < _DIGITS for word in words) else []


def _places(places: Mapping[Place, Seen], owners: Owners) -> Iterator[Told]:
    for (thread, before, rank, after), seen in sorted(places.items(), key=_by_ranks):
        whose = owners.of(thread, (rank,), max(before, rank, after), seen.line)
        yield {**whose, "before": before, "rank": rank, "after": after}, seen.count


def _summed(told: Iterable[Told]) -> list[dict[str, Any]]:
    """What several threads tell alike is told once, with the number of all its lines."""
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for fields, lines in told:
        place = tuple((name, tuple(value) if isinstance(value, list) else value) for name, value in fields.items())
        if place in found:
            found[place]["lines"] += lines
        else:
            found[place] = {**fields, "lines": lines}
    return list(found.values())


def _by_ranks(told: tuple[Edge | Order | Place, Seen]) -> tuple[Any, ...]:
    """In an order of their own: that in which lines are read depends on what is around them."""
    thread, *rest = told[0]
    return (*((part is not None, part) for part in rest), thread or 0)


def _put(seen: dict[T, Seen], place: T, line: int, limit: int) -> Seen | None:
    found = seen.get(place)
    if found is None and len(seen) < limit:
        found = seen[place] = Seen(line)
    if found is not None:
        found.line = min(found.line, line)  # lines of another form are read after those that are counted
    return found


def _count(held: Seen | None, later: Seen) -> None:
    if held is not None:
        held.count += later.count
