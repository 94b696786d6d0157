"""What the processes told together: the communicators, and the collective calls on each of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from operator import itemgetter
from typing import Any

from ncdiag.base.spans import Span, span
from ncdiag.facts.observe import Observation
from ncdiag.parsers.nccl_log.calls import Calls, Last, Place, Sum
from ncdiag.parsers.nccl_log.lives import Life
from ncdiag.parsers.nccl_log.ranks import Key, Record

COMM_LIMIT = 65536
LAST_LIMIT = 64
"""Communicators of a rank whose last call is told, the widest first."""

Process = tuple[str | None, int | None]


def communicators(records: Iterable[Record]) -> Iterator[Observation]:
    """The communicators that can be named, in the order of their first lines; a rank that is ready has started.

    A name is the id that a line shows, or that of the parent with the number and the color of the split.
    """
    found: dict[str, tuple[Span, dict[str, Any], dict[int, str | None], set[int]]] = {}
    for name, parent, host, life in _named(records):
        init = life.init
        if name not in found and len(found) >= COMM_LIMIT:
            continue
        _, fields, started, ready = found.setdefault(name, (life.first, {}, {}, set()))
        values = {"nranks": init.nranks, "nhosts": init.nhosts, "parent": parent}
        fields |= {field: value for field, value in values.items() if value is not None}
        if life.started or life.ready:
            started.setdefault(init.rank, host)
        ready |= {init.rank} if life.ready else set()
    for name, (where, fields, started, ready) in found.items():
        open_on = {str(rank): host for rank, host in sorted(started.items()) if rank not in ready and host is not None}
        ranks = {"ranks_started": sorted(started), "ranks_ready": sorted(ready), "open_on": open_on}
        told = {**fields, **{field: value for field, value in ranks.items() if value or field != "open_on"}}
        yield Observation(entity="Communicator", key=(name,), span=where, fields=told, standing="process")


def _named(records: Iterable[Record]) -> Iterator[tuple[str, str | None, str | None, Life]]:
    """(name, name of the parent, host, life) of each communicator of each process, in the order of their first lines.

    NCCL 2.23 and later print no id for a communicator that was split from another: its hash is made of the hash of the
    parent, the number of the split and the color (init.cc), and so is its name here.
    """
    lives = [
        (life.first.line, record.key[:2], pointer, life)
        for record in records for pointer, told in record.lives.all().items() for life in told
    ]  # fmt: skip
    names: dict[tuple[Process, str], str | None] = {}
    for _, process, pointer, life in sorted(lives, key=itemgetter(0)):
        init = life.init
        parent = names.get((process, init.parent)) if init.parent is not None else None
        name = init.comm or (f"{parent}/{init.branch}" if parent is not None and init.branch is not None else None)
        names[process, pointer] = name
        if name is not None:
            yield name, parent, process[0], life


class CallsOfRanks:
    """The calls of a source with the ids of their communicators, where the Init lines told them."""

    def __init__(self, calls: Calls, key_of: Callable[[bytes], Key], records: Iterable[Record], source: str) -> None:
        """``key_of`` reads ``host:pid:tid [dev]``."""
        self._calls, self._key_of, self._source = calls, key_of, source
        self._ids: dict[tuple[Process, str], str | None] = {}
        for record in records:
            for pointer, lives in record.lives.all().items():
                self._ids[record.key[:2], pointer] = lives[-1].init.comm

    def _id(self, place: Place) -> str | None:
        return self._ids.get((self._key_of(place.before)[:2], place.pointer))

    def told(self) -> Iterator[tuple[Key, list[dict[str, Any]], Span]]:
        """The last call of each rank on each of its communicators, the widest first, and the line of the first one."""
        by_rank: dict[Key, list[tuple[Place, Last]]] = defaultdict(list)
        for place, last in self._calls.last().items():
            by_rank[self._key_of(place.before)].append((place, last))
        for key, found in by_rank.items():
            found.sort(key=lambda pair: (-pair[0].nranks, -pair[1].number))
            told = [
                {
                    "communicator": self._id(place), "nranks": place.nranks, "function": last.function,
                    "op_count": last.op_count, "count": last.elements, "datatype": last.datatype,
                }
                for place, last in found[:LAST_LIMIT]
            ]  # fmt: skip
            yield key, told, self._span(found[0][1])

    def observations(self) -> Iterator[Observation]:
        """The sum of the calls of all ranks by communicator, function and datatype; its line is the last call there."""
        lines: dict[tuple[str | None, int], Last] = {}
        for place, last in self._calls.last().items():
            comm = self._id(place), place.nranks
            lines[comm] = max(lines.get(comm, last), last)
        sums: dict[tuple[str | None, int, str, str], Sum] = defaultdict(lambda: Sum(sizes={}))
        for (place, function, datatype), added in self._calls.sums().items():
            sums[self._id(place), place.nranks, function, datatype].add(added)
        for key, total in sums.items():
            sizes = {str(power): total.sizes[power] for power in sorted(total.sizes)}
            yield Observation(
                entity="CollectiveSum", key=key, span=self._span(lines[key[:2]]), standing="process",
                fields={"calls": total.calls, "bytes": total.size, "sizes": sizes},
            )  # fmt: skip

    def _span(self, last: Last) -> Span:
        return span(self._source, last.number, last.line.decode("utf-8", "replace"))
