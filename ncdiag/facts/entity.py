"""One entity while its observations are merged, and the fact struct that it becomes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import msgspec

from ncdiag.facts import model
from ncdiag.facts.model import Fact
from ncdiag.facts.observe import Observation
from ncdiag.facts.scalars import VersionRange
from ncdiag.spans import Span

_STANDING = {"process": 3, "live": 2, "conf": 1, "manifest": 0, "default": -1}
_UNIONS = {
    "addresses", "slaves", "gids_used", "gdr", "ranks_started", "ranks_ready", "complete", "net_devices",
    "absent_modules", "process_cpus", "input_allows", "route_answers",
}  # fmt: skip
_LAST_WINS = {"state", "operstate", "last_ops", "line_tag"}
_COUNTED = {"transports", "sizes", "net_ways"}
_SUMMED = {"calls", "bytes"}
_KEYED = {"counters", "libfabric_providers", "lid_counters"}
"""What several tools print in parts, by name: the later reading of a name counts."""
_EXTREME: dict[str, Callable[[Any, Any], Any]] = {
    **dict.fromkeys(("input_policy", "input_drops"), max),
    **dict.fromkeys(("peer_gb_per_s", "staged_gb_per_s", "peer_both_gb_per_s"), min),
    **dict.fromkeys(("local_gb_per_s", "from_host_gb_per_s", "to_host_gb_per_s"), min),
}
"""A packet has to pass every filter: the one that drops decides (``drop`` is also the greater word). Of what several
tests measured alike, the weakest result counts."""


_KEY_FIELDS: dict[str, tuple[str, ...]] = {
    "Interface": ("name",), "Route": ("destination", "interface"), "Hca": ("name",), "Port": ("hca", "number"),
    "Gid": ("hca", "port", "index"), "Npu": ("index",),
    "TopoLink": ("a", "b"), "PciDevice": ("bus_id",), "KernelModule": ("name",),
    "Mount": ("path",), "Limit": ("name",), "Service": ("name",), "Library": ("path",), "Setting": ("name", "pid"),
    "ClusterNode": ("name",), "CloudInstance": ("id",), "SecurityGroup": ("id",),
    "Communicator": ("id",), "Rank": ("pid", "cuda_dev"),
    "CollectiveSum": ("communicator", "nranks", "function", "datatype"),
}  # fmt: skip

T = TypeVar("T", bound=Fact)


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
        elif name in _SUMMED:
            self.values[name] += value
        elif name in _KEYED:
            self.values[name] = {**self.values[name], **value}
        elif name in _EXTREME:
            kept = _EXTREME[name](self.values[name], value)
            self._set(name, kept, old if kept == self.values[name] else new)
        elif self.values[name] != value:
            self._disagree(name, value, old, new, conflicts)

    def _disagree(
        self, name: str, value: Any, old: Observation, new: Observation, conflicts: list[model.Conflict]  # noqa: ANN401
    ) -> None:  # fmt: skip
        held = self.values[name]
        if isinstance(held, VersionRange) and isinstance(value, VersionRange):
            both = held.intersect(value)
            printed = [version for version in (held, value) if version.text]
            if both is None and len(printed) == 1:  # what was printed beats what the wording of a line lets expect
                both = printed[0]
                spans = self.provenance[name], new.span
                shown = _shown(held), _shown(value)
                conflicts.append(model.Conflict(self.label, name, shown, spans, _shown(both)))
            if both:
                self._set(name, both, new if value.known else old)
                return
        stronger = _STANDING[new.standing] - _STANDING[old.standing]
        if stronger == 0 and name in _LAST_WINS:
            self._set(name, value, new)
            return
        if stronger != 0 and "default" in {new.standing, old.standing}:
            if stronger > 0:
                self._set(name, value, new)
            return
        kept = value if stronger > 0 else held if stronger < 0 else None
        conflicts.append(
            model.Conflict(
                entity=self.label,
                field=name,
                values=(_shown(held), _shown(value)),
                spans=(self.provenance[name], new.span),
                kept=None if kept is None else _shown(kept),
            )
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


def build(entity: Entity) -> Any:  # noqa: ANN401
    """The fact struct of an entity, without the fields that do not fit; None when its key does not fit."""
    target: type[Fact] = getattr(model, entity.kind)
    fields = {**entity.values, **_key_values(entity)}
    if "host" in target.__struct_fields__ and entity.host is not None:
        fields.setdefault("host", entity.host)
    fields["provenance"] = entity.provenance
    try:
        return _convert(fields, target)
    except msgspec.ValidationError:
        known = target.__struct_fields__
        good = {name: value for name, value in fields.items() if name in known and _fits(target, name, value)}
        try:
            return _convert(good, target)
        except (msgspec.ValidationError, TypeError):
            return None
    except TypeError:
        return None


def _key_values(entity: Entity) -> dict[str, Any]:
    names = _KEY_FIELDS.get(entity.kind, ())
    values = {name: value for name, value in zip(names, entity.key, strict=False) if value is not None}
    if entity.kind == "Gpu" and entity.key:
        values["index" if isinstance(entity.key[0], int) else "bus_id"] = entity.key[0]
    return values


def _convert(fields: Mapping[str, Any], target: type[T]) -> T:
    known = {name: value for name, value in fields.items() if name in target.__struct_fields__ and value is not None}
    return msgspec.convert(known, target, from_attributes=True)


def _fits(target: type[Fact], name: str, value: Any) -> bool:  # noqa: ANN401
    annotation = msgspec.structs.fields(target)[target.__struct_fields__.index(name)].type
    try:
        msgspec.convert(value, annotation, from_attributes=True)
    except (msgspec.ValidationError, TypeError):
        return False
    return True


def _shown(value: Any) -> str:  # noqa: ANN401
    return value if isinstance(value, str) else str(value)
