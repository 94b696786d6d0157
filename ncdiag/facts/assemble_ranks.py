"""Build ranks and events: resolve interfaces, and fill in settings and rank numbers by process."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from ncdiag.facts.entity import Alike, Entity, build
from ncdiag.facts.model import Event, Host, Interface, Rank, Setting
from ncdiag.facts.model.declared import declared
from ncdiag.facts.model.marks import OF_HOST

Process = tuple[str | None, int | None]
"""A host name and a process id."""


def ranks(entities: Iterable[Entity], settings: Iterable[Setting], hosts: Iterable[Host]) -> tuple[Rank, ...]:
    """Return all ranks sorted by number; ranks without a number come last."""
    echoes: dict[Process, dict[str, Setting]] = defaultdict(dict)
    for setting in settings:
        if setting.pid is not None:
            echoes[setting.host, setting.pid].setdefault(setting.name, setting)
    interfaces = {host.name: {i.name: i for i in host.interfaces} for host in hosts}
    result, alike = [], Alike()
    for entity in entities:
        _resolve_interfaces(entity, interfaces.get(entity.host or "", {}))
        rank = build(entity, alike)
        if rank is not None:
            mine = echoes.get((rank.host, rank.pid), {})
            own = {name: msgspec.structs.replace(setting, rank=rank.rank) for name, setting in mine.items()}
            result.append(msgspec.structs.replace(rank, settings=own))
    return tuple(sorted(result, key=lambda r: (r.rank is None, r.rank or 0)))


def _resolve_interfaces(entity: Entity, interfaces: Mapping[str, Interface]) -> None:
    """Replace the interfaces that the log names by the entities of the host, which have more fields."""
    for field in declared(Rank).marked[OF_HOST]:
        value = entity.values.get(field)
        if isinstance(value, dict):
            entity.values[field] = interfaces.get(value.get("name", ""))
        elif value is not None:
            found = [interfaces.get(item.get("name", "")) for item in value if isinstance(item, dict)]
            entity.values[field] = [item for item in found if item is not None]


def numbered_settings(settings: Iterable[Setting], found: Sequence[Rank]) -> tuple[Setting, ...]:
    """Fill in the rank of each setting that a process echoed."""
    numbers = _numbers(found)
    return tuple(
        s if s.pid is None else msgspec.structs.replace(s, rank=numbers.get((s.host, s.pid))) for s in settings
    )


def ordered_events(events: Sequence[Event], found: Sequence[Rank]) -> tuple[Event, ...]:
    """Sort events by their order in the input, and fill in missing ranks from the process."""
    numbers = _numbers(found)
    filled = [
        msgspec.structs.replace(e, rank=numbers[e.host, e.pid]) if e.rank is None and (e.host, e.pid) in numbers else e
        for e in events
    ]
    return tuple(sorted(filled, key=lambda e: e.order))


def _numbers(found: Sequence[Rank]) -> dict[Process, int | None]:
    """The rank number of each process; None for processes that hold several ranks."""
    numbers: dict[Process, int | None] = {}
    for rank in found:
        if rank.pid is not None:
            process = rank.host, rank.pid
            numbers[process] = rank.rank if process not in numbers else None
    return numbers
