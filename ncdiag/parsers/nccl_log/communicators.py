"""What the processes told together: the communicators, and the collective calls on each of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ncdiag.base.spans import Span, span
from ncdiag.facts.fold import fold_ranks
from ncdiag.facts.observe import Observation
from ncdiag.parsers.nccl_log.account import Account, Process, Row
from ncdiag.parsers.nccl_log.calls import Calls, Last, Place, Sum
from ncdiag.parsers.nccl_log.ranks import Key, Record

LAST_LIMIT = 64
"""Communicators of a rank whose last call is told, the widest first."""


def communicators(account: Account) -> Iterator[Observation]:
    """The communicators that can be named, in the order of their first lines; a rank that is ready has started."""
    lists: dict[tuple[tuple[int, int], ...], list[int]] = {}  # most have the same ranks
    # Of splits that all took part in, and that nothing was split from in part, nobody asks who is missing.
    partial = [row for row in account.rows.values() if _is_partial(row)]
    asked, parents = {(row.parent, row.split) for row in partial}, {row.parent for row in partial}
    for name, row in account.rows.items():
        started, ready = (lists.setdefault(ranks.key(), ranks.numbers()) for ranks in (row.started, row.ready))
        values = {
            "nranks": row.nranks, "nhosts": row.nhosts, "parent": row.parent, "begun_at": row.begun_at,
            "ready_at": row.ready_at,
        }  # fmt: skip
        fields: dict[str, Any] = {field: value for field, value in values.items() if value is not None}
        fields |= {"ranks_started": started, "ranks_ready": ready}
        if row.hosts:
            fields["open_on"] = {str(rank): host for rank, host in sorted(row.hosts.items())}
        is_part = _is_partial(row) if row.split is None else (row.parent, row.split) in asked
        if row.above and (is_part or name in parents):
            fields["ranks_above"] = {str(rank): row.above[rank] for rank in sorted(row.above)}
            fields |= {} if row.split is None else {"split": row.split}
        if len(row.aborted):
            fields["ranks_aborted"] = row.aborted.numbers()
        if len(row.sizes) > 1:
            fields["sizes"] = {str(size): fold_ranks(ranks.numbers()) for size, ranks in sorted(row.sizes.items())}
        yield Observation(entity="Communicator", key=(name,), span=row.first, fields=fields, standing="process")
    if account.left_out:
        first = min((row.first for row in account.rows.values()), key=lambda span: span.line)
        fields = {"communicators_unlisted": account.left_out}
        yield Observation(entity="Job", key=(), span=first, fields=fields, standing="process")


def _is_partial(row: Row) -> bool:
    """Did not all ranks of the communicator begin, as far as this source shows?"""
    return len(row.started) < (row.nranks or 0)


class CallsOfRanks:
    """The calls of a source with the ids of their communicators, where the Init lines told them."""

    def __init__(
        self, calls: Calls, key_of: Callable[[bytes], Key], records: Iterable[Record], account: Account, source: str
    ) -> None:
        """``key_of`` reads ``host:pid:tid [dev]``."""
        self._calls, self._key_of, self._source, self._account = calls, key_of, source, account
        self._ids: dict[tuple[Process, str], str | None] = {}
        for record in records:
            for pointer, lives in record.lives.all().items():
                self._ids[record.key[:2], pointer] = lives[-1].init.comm

    def _id(self, place: Place) -> str | None:
        process = self._key_of(place.before)[:2]
        return self._ids.get((process, place.pointer)) or self._account.id_at(process, place.pointer)

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
