"""Build the job from merged entities: its hosts, ranks, events and size."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import msgspec

from ncdiag.facts.assemble_hosts import UNNAMED, hosts, with_log_interfaces
from ncdiag.facts.assemble_ranks import numbered_settings, ordered_events, ranks
from ncdiag.facts.entity import Alike, Entity, Merged, build
from ncdiag.facts.model import Conflict, Host, Interface, Job, Rank
from ncdiag.facts.model.declared import Declared, declared
from ncdiag.facts.observe import Observation
from ncdiag.facts.stated import describes, filled

_MORE_THAN_ONE_LOOK = (Job, Host, Rank, Interface)
"""Types whose entities are kept unbuilt until the entities of all other types are known."""


def job(merged: Iterable[tuple[Declared, list[Merged]]], conflicts: Callable[[], tuple[Conflict, ...]]) -> Job:
    """Build the job from its entities, one type of facts after the other; entities whose key does not fit are left out.

    ``merged`` yields each type with its entities by host. ``conflicts`` is called once all types were read.
    """
    entities: dict[type[Any], list[Entity]] = {kind: [] for kind in _MORE_THAN_ONE_LOOK}
    parts: dict[str, list[Any]] = {}
    named: dict[type[Any], list[str | None]] = {}
    alike, runs = Alike(), False
    for kind, found in merged:
        runs = runs or kind.kind.SHOWS_A_RUN
        named[kind.kind] = list(dict.fromkeys(host for host, _ in found))
        if kind.kind in entities:
            entities[kind.kind] = [_entity(kind, host, one) for host, one in found]
        else:
            parts[kind.kind.__name__] = list(_built(kind, found, alike))
    interfaces = with_log_interfaces(entities[Interface], entities[Rank])
    parts["Interface"] = [fact for one in interfaces if (fact := build(one)) is not None]
    named[Interface] = [one.host for one in interfaces]
    names = [name for kind, found in named.items() if kind is not Job for name in found if name is not None]
    contexts = parts.get("Context", [])
    if not names and (runs or describes(contexts)):
        names = [UNNAMED]  # something ran: rules about hosts need a host, all of whose fields are unknown
    settings = parts.get("Setting", [])
    found_hosts = hosts(dict.fromkeys(names), entities[Host], parts, settings)
    found_ranks = ranks(entities[Rank], settings, found_hosts)
    found_hosts = filled(found_hosts, found_ranks, contexts)
    said = {key: value for entity in entities[Job] for key, value in entity.values.items()}
    lists: dict[str, Any] = {
        field: tuple(parts.get(kind.__name__, ())) for field, kind in declared(Job).collections.items()
    }
    lists |= {
        "hosts": found_hosts, "ranks": found_ranks, "settings": numbered_settings(settings, found_ranks),
        "events": ordered_events(parts.get("Event", []), found_ranks),
    }  # fmt: skip
    lists["communicators_unlisted"] = said.get("communicators_unlisted")
    result = Job(conflicts=conflicts(), complete=frozenset(said.pop("complete", ())), **lists)
    return _with_size(result, said)


def _entity(kind: Declared, host: str | None, one: Observation | Entity) -> Entity:
    return one if isinstance(one, Entity) else Entity.begun(kind, host, one)


def _built(kind: Declared, found: Iterable[Merged], alike: Alike) -> Iterator[Any]:
    """The facts of one type, built from its entities."""
    for host, one in found:
        fact = build(one) if isinstance(one, Entity) else alike.fact(kind, host, one)
        if fact is not None:
            yield fact


def _with_size(result: Job, said: Mapping[str, Any]) -> Job:
    """Set nranks and nhosts from the largest communicator, else from Init lines or the number of hosts seen."""
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
