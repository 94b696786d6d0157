"""The job from merged entities: hosts, ranks, events and its size."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from ncdiag.facts.assemble_hosts import hosts, with_log_interfaces
from ncdiag.facts.assemble_ranks import numbered_settings, ordered_events, ranks
from ncdiag.facts.entity import Entity, build
from ncdiag.facts.model import Conflict, Job
from ncdiag.facts.model.declared import declared


def job(entities: Sequence[Entity], conflicts: Sequence[Conflict]) -> Job:
    """Build the job; entities whose key does not fit their type are left out."""
    grouped: dict[str, list[Entity]] = defaultdict(list)
    for entity in entities:
        grouped[entity.declared.kind.__name__].append(entity)
    grouped["Interface"] = with_log_interfaces(grouped)
    own = grouped.pop("Job", [])
    entities_of_ranks = grouped["Rank"]
    parts = {kind: list(_built(kind, found)) for kind, found in grouped.items() if kind != "Rank"}
    settings = parts.get("Setting", [])
    found_hosts = hosts(grouped, parts, settings)
    found_ranks = ranks(entities_of_ranks, settings, found_hosts)
    said = {key: value for entity in own for key, value in entity.values.items()}
    lists: dict[str, Any] = {
        field: tuple(parts.get(kind.__name__, ())) for field, kind in declared(Job).collections.items()
    }
    lists |= {
        "hosts": found_hosts, "ranks": found_ranks, "settings": numbered_settings(settings, found_ranks),
        "events": ordered_events(parts.get("Event", []), found_ranks),
    }  # fmt: skip
    result = Job(conflicts=tuple(conflicts), complete=frozenset(said.pop("complete", ())), **lists)
    return _with_size(result, said)


def _built(kind: str, entities: Iterable[Entity]) -> Iterator[Any]:
    """The facts of one type; the entities of a large cluster are not kept beside them."""
    for entity in entities:
        fact = build(entity)
        if kind != "Host":  # whose own fields are asked for once more
            entity.release()
        if fact is not None:
            yield fact


def _with_size(result: Job, said: Mapping[str, Any]) -> Job:
    """Nranks and nhosts of the largest communicator, or as many hosts as were seen when no line tells."""
    nranks = max((c.nranks for c in result.communicators if c.nranks), default=None)
    nranks = nranks or max((r.nranks for r in result.ranks if r.nranks), default=None) or said.get("nranks")
    nhosts = max((c.nhosts for c in result.communicators if c.nhosts), default=None) or said.get("nhosts")
    nhosts = nhosts or max((n for e in result.events if isinstance(n := e.fields.get("nodes"), int)), default=None)
    rank_hosts = {r.host for r in result.ranks}
    seen = {r.rank for r in result.ranks if r.rank is not None}
    complete = set(result.complete)
    if nranks and len(seen) >= nranks:
        complete.add("ranks")
        nhosts = nhosts or len(rank_hosts)
    if nhosts is None and len(rank_hosts) > 1:
        nhosts = len(rank_hosts)
    return msgspec.structs.replace(result, nranks=nranks, nhosts=nhosts, complete=frozenset(complete))
