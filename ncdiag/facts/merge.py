"""Merge observations into one job: entities by key, provenance kept, disagreement turned into conflicts.

Two values of one field: the source of higher standing wins (process echo, live reading, conf file, manifest) and the loser
goes to ``Job.conflicts``; of equal standing and different, the field becomes unknown and the conflict says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec

from ncdiag.facts import assemble, model
from ncdiag.facts.assemble import UNNAMED
from ncdiag.facts.observe import Observation
from ncdiag.facts.scalars import VersionRange, ip_address
from ncdiag.spans import Span

_STANDING = {"process": 3, "live": 2, "conf": 1, "manifest": 0}
_LISTS = {"Event", "Launch", "Benchmark", "Timeout", "RankTable", "FlightRecord"}
_JOB_WIDE = _LISTS | {"Communicator", "Job", "Setting"}
_UNIONS = {
    "addresses", "slaves", "gids_used", "gdr", "ranks_started", "ranks_ready", "complete", "net_devices", "absent_modules",
}  # fmt: skip
_LAST_WINS = {"state", "operstate"}
_COUNTED = {"transports"}


class Entity:
    """One entity while it is being merged: values with the observation that each came from."""

    def __init__(self, kind: str, host: str | None, key: tuple[Any, ...]) -> None:
        """Start empty."""
        self.kind, self.host, self.key = kind, host, key
        self.values: dict[str, Any] = {}
        self.origins: dict[str, Observation] = {}
        self.provenance: dict[str, Span] = {}

    def add(self, observation: Observation, conflicts: list[model.Conflict]) -> None:
        """Take the fields of one more observation."""
        self.provenance.setdefault("", observation.span)
        for name, value in observation.fields.items():
            self._put(name, value, observation, conflicts)
        for kind in observation.fields.get("complete", ()):
            self.provenance.setdefault(f"complete:{kind}", observation.span)

    def _put(self, name: str, value: Any, new: Observation, conflicts: list[model.Conflict]) -> None:  # noqa: ANN401
        old = self.origins.get(name)
        if old is None:
            self._set(name, value, new)
        elif name in _UNIONS:
            held = self.values[name] or []
            self.values[name] = [*held, *(item for item in value if item not in held)]
        elif name in _COUNTED:
            for word, count in value.items():
                self.values[name][word] = self.values[name].get(word, 0) + count
        elif self.values[name] != value:
            self._disagree(name, value, old, new, conflicts)

    def _disagree(  # noqa: PLR0913
        self, name: str, value: Any, old: Observation, new: Observation, conflicts: list[model.Conflict]  # noqa: ANN401
    ) -> None:  # fmt: skip
        held = self.values[name]
        if isinstance(held, VersionRange) and isinstance(value, VersionRange):
            both = held.intersect(value)
            if both:
                self._set(name, both, new if value.known else old)
                return
        stronger = _STANDING[new.standing] - _STANDING[old.standing]
        if stronger == 0 and name in _LAST_WINS:
            self._set(name, value, new)
            return
        kept = value if stronger > 0 else held if stronger < 0 else None
        conflicts.append(
            model.Conflict(
                entity=self.label, field=name, values=(_shown(held), _shown(value)),
                spans=(self.provenance[name], new.span), kept=None if kept is None else _shown(kept),
            )  # fmt: skip
        )
        if stronger >= 0:
            self._set(name, kept, new)

    def _set(self, name: str, value: Any, observation: Observation) -> None:  # noqa: ANN401
        self.values[name] = value
        self.origins[name] = observation
        self.provenance[name] = observation.span

    @property
    def label(self) -> str:
        """For people: ``Port node1 mlx5_0 1``."""
        parts = [self.kind, self.host, *self.key]
        return " ".join(str(part) for part in parts if part is not None)


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
            key = (*key, observation.fields.get("origin"))
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


def _shown(value: Any) -> str:  # noqa: ANN401
    return value if isinstance(value, str) else str(value)
