"""Which ranks are connected with each other: the connections that ranks printed, collected by communicator."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Connection, Job, Rank, Ring, RingOrder, RingPlace, Wire, Wiring
from ncdiag.facts.view import View

Name = tuple[str | None, int | None]
"""The id of a communicator, or its size where the id is unknown."""


class _Pair:
    """What both ends printed about a pair of ranks."""

    __slots__ = ("received", "sent", "source_nics", "target_nics")

    def __init__(self) -> None:
        self.sent: Counter[str] = Counter()
        self.received: Counter[str] = Counter()
        self.source_nics: set[int] = set()
        self.target_nics: set[int] = set()

    def add(self, told: Connection) -> None:
        receives = told.way == "receive"
        (self.received if receives else self.sent)[told.transport] += told.lines
        if told.nic is not None:
            (self.target_nics if receives else self.source_nics).add(told.nic)


class _Seen:
    """What the ranks printed about one communicator."""

    def __init__(self) -> None:
        self.nranks: int | None = None
        self.pairs: dict[tuple[int, int], _Pair] = defaultdict(_Pair)
        self.hosts: dict[int, set[str]] = defaultdict(set)
        self.orders: list[RingOrder] = []
        self.places: list[RingPlace] = []


@derived
def wirings(job: Job, view: View) -> tuple[Wiring, ...]:
    """The connections and rings of each communicator, the largest first."""
    seen: dict[Name, _Seen] = defaultdict(_Seen)
    for rank in job.ranks:
        for connection in rank.connections:
            found = _of(seen, connection)
            found.pairs[connection.source, connection.target].add(connection)
            found.hosts[_printed_by(connection, rank)].add(rank.host)
        for order in rank.rings:
            _of(seen, order).orders.append(order)
        for place in rank.ring_places:
            found = _of(seen, place)
            found.places.append(place)
            found.hosts[place.rank].add(rank.host)
    for rank in job.ranks:  # ranks that printed no connection
        name = rank.communicator, None if rank.communicator else rank.nranks
        if name in seen and rank.rank is not None:
            seen[name].hosts[rank.rank].add(rank.host)
    made = (_wiring(name[0], found) for name, found in seen.items())
    return tuple(sorted(made, key=lambda one: (-(one.nranks or 0), -len(one.wires), one.communicator or "")))


def _of(seen: Mapping[Name, _Seen], told: Connection | RingOrder | RingPlace) -> _Seen:
    found = seen[told.communicator, None if told.communicator else told.nranks]
    found.nranks = told.nranks
    return found


def _printed_by(told: Connection, rank: Rank) -> int:
    """The number of the rank that printed the connection.

    2.3 does not print on which side of a network connection it is.
    """
    if told.way is None and told.nic is not None and rank.rank == told.target:
        return told.target
    return told.target if told.way == "receive" else told.source


def _wiring(name: str | None, seen: _Seen) -> Wiring:
    hosts = {rank: next(iter(found)) for rank, found in seen.hosts.items() if len(found) == 1}
    wires = tuple(
        Wire(
            source, target, hosts.get(source), hosts.get(target), dict(pair.sent), dict(pair.received),
            tuple(sorted(pair.source_nics)), tuple(sorted(pair.target_nics)),
        )
        for (source, target), pair in sorted(seen.pairs.items())
    )  # fmt: skip
    mixed = len(hosts) < len(seen.hosts)
    rings = () if mixed else tuple(_rings(seen))
    return Wiring(communicator=name, nranks=seen.nranks, mixed=mixed, wires=wires, rings=rings)


def _rings(seen: _Seen) -> Iterator[Ring]:
    """The ring orders that rank 0 printed; NCCL cuts long ones, and the rest is filled in from the neighbours."""
    following = _following(seen.places)
    lines: dict[tuple[int, ...], list[RingOrder]] = defaultdict(list)
    for told in seen.orders:
        if told.order:
            lines[told.order].append(told)
    for order, all_told in sorted(lines.items(), key=lambda found: min(told.channel for told in found[1])):
        count = sum(told.lines for told in all_told)
        most = max((told.channels or 0 for told in all_told), default=0) or count
        yield _ring(order, following, seen.nranks, min(told.channel for told in all_told), min(count, most))
    if not lines and following:
        begins = following.keys() - following.values()
        yield _ring((min(begins or following),), following, seen.nranks)


def _following(places: Iterable[RingPlace]) -> dict[int, int]:
    """The successor of each rank, if it is the same in all rings; else an empty mapping."""
    found: dict[int, int] = {}
    for place in places:
        for rank, after in ((place.before, place.rank), (place.rank, place.after)):
            if found.setdefault(rank, after) != after:
                return {}
    return found


def _ring(
    order: tuple[int, ...], following: Mapping[int, int], nranks: int | None, channel: int | None = None,
    channels: int | None = None,
) -> Ring:  # fmt: skip
    """The ring with the ranks after its last printed rank filled in."""
    path = dict.fromkeys(order)
    while (after := following.get(next(reversed(path)))) is not None and after not in path:
        path[after] = None
    return Ring(tuple(path), channel, channels, whole=len(path) == nranks)
