"""Merge observations into one job: entities by key, provenance kept, disagreement turned into conflicts.

Two values of one field: the source of higher standing wins (process echo, live reading, conf file, manifest) and the
loser goes to ``Job.conflicts``; of equal standing and different, the field becomes unknown and the conflict says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec

from ncdiag.facts import assemble, model
from ncdiag.facts.assemble_hosts import UNNAMED
from ncdiag.facts.entity import Entity
from ncdiag.facts.observe import Observation
from ncdiag.facts.scalars import VersionRange, ip_address

_LISTS = {
    "Event", "Launch", "Benchmark", "Timeout", "RankTable", "FlightRecord", "TopoSystem", "GraphDump", "RasReport",
    "OperationProfile", "Fabric", "Throughput", "LinkTest", "StackDump", "Complaint", "HealthCheck",
}  # fmt: skip
_JOB_WIDE = (_LISTS - {"TopoSystem", "HealthCheck"}) | {
    "Communicator", "CollectiveSum", "ClusterNode", "CloudInstance", "SecurityGroup", "Job", "Setting",
}  # fmt: skip


def merge(observations: Iterable[Observation]) -> model.Job:
    """The job that the observations describe. Values that do not fit their field's type are dropped, never guessed."""
    observations = list(observations)
    naming = _Naming(observations)
    conflicts: list[model.Conflict] = []
    entities: dict[tuple[str, str | None, tuple[Any, ...]], Entity] = {}
    for number, observation in enumerate(observations):
        host = naming.host_of(observation)
        key = observation.key
        if observation.entity in _LISTS:
            key = (*key, number)
        elif observation.entity == "Setting":
            key = (*key, observation.fields.get("origin"), observation.fields.get("file"))
        place = observation.entity, host, key
        if place not in entities:
            entities[place] = Entity(observation.entity, host, observation.key)
        entities[place].add(_converted(observation), conflicts)
    return assemble.job(list(entities.values()), conflicts)


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

    def host_of(self, observation: Observation) -> str | None:
        if observation.host is not None:
            return self._alias[observation.host]
        if observation.entity in _JOB_WIDE:
            return self._only if observation.entity == "Event" else None
        return self._only or UNNAMED


def _converted(observation: Observation) -> Observation:
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
