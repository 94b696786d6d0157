"""Merge observations into one job: entities by key, provenance kept, disagreement turned into conflicts.

Two values of one field: the source of higher standing wins (process echo, live reading, conf file, manifest) and the
loser goes to ``Job.conflicts``; of equal standing and different, the field becomes unknown and the conflict says so.
The order of the sources decides nothing: only that of the lines of one source means something.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec

from ncdiag.facts import assemble, model
from ncdiag.facts.assemble_hosts import UNNAMED
from ncdiag.facts.entity import Entity
from ncdiag.facts.model.base import Key
from ncdiag.facts.model.declared import Declared, observed
from ncdiag.facts.observe import Observation
from ncdiag.facts.scalars import VersionRange, ip_address


def merge(observations: Iterable[Observation]) -> model.Job:
    """The job that the observations describe. Values that do not fit their field's type are dropped, never guessed."""
    observations = list(observations)
    naming = _Naming(observations)
    conflicts: list[model.Conflict] = []
    entities: dict[tuple[str, str | None, tuple[Any, ...]], Entity] = {}
    types = observed()
    for number, observation in enumerate(observations):
        kind = types.get(observation.entity)
        if kind is None:
            continue
        host = naming.host_of(observation, kind)
        key = (*observation.key, number) if kind.key is None else _whole_key(observation, kind.key)
        place = observation.entity, host, key
        if place not in entities:
            entities[place] = Entity(kind, host, observation.key)
        entities[place].add(converted(observation), conflicts)
    return assemble.job(list(entities.values()), conflicts)


def _whole_key(observation: Observation, key: Key) -> tuple[Any, ...]:
    """The key with those of its last parts that the observation has among its fields."""
    rest = key[len(observation.key) :]
    return (*observation.key, *(observation.fields.get(str(name)) for name in rest)) if rest else observation.key


class _Naming:
    """Decides the host of each observation: what it says, else the only host known, else a label. Never a guess."""

    def __init__(self, observations: Sequence[Observation]) -> None:
        named = {o.host for o in observations if o.host is not None}
        short: dict[str, str] = {}
        for name in named:
            label = name if ip_address(name) else name.split(".", 1)[0]
            short[name] = label
        self._alias = short
        labels = set(short.values())
        self._only = next(iter(labels)) if len(labels) == 1 else None

    def host_of(self, observation: Observation, kind: Declared) -> str | None:
        if observation.host is not None:
            return self._alias[observation.host]
        return {"said": None, "only": self._only, "some": self._only or UNNAMED}[kind.host]


def converted(observation: Observation) -> Observation:
    """Turn printed versions into ranges before values are compared."""
    value = observation.fields.get("nccl_version")
    if value is None or isinstance(value, VersionRange):
        return observation
    version = VersionRange.exact(value) if isinstance(value, str) else _attempt(value, VersionRange)
    return msgspec.structs.replace(observation, fields={**observation.fields, "nccl_version": version})


def _attempt(value: Any, target: Callable[..., Any]) -> Any:  # noqa: ANN401
    try:
        return msgspec.convert(value, target)
    except msgspec.ValidationError:
        return None
