"""An entity while its observations are merged, and the fact that is built from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

import msgspec

from ncdiag.base.spans import Span
from ncdiag.facts import model
from ncdiag.facts.model import Fact
from ncdiag.facts.model.declared import Declared, type_of
from ncdiag.facts.model.marks import LATEST
from ncdiag.facts.observe import Observation
from ncdiag.facts.scalars import VersionRange

_STANDING = {"process": 3, "live": 2, "conf": 1, "manifest": 0, "default": -1}
T = TypeVar("T", bound=Fact)


class Entity:
    """An entity while it is merged: its values, each with the observation that it came from."""

    __slots__ = ("_first", "_later", "declared", "host", "key", "provenance", "values")

    def __init__(self, declared: Declared, host: str | None, key: tuple[Any, ...]) -> None:
        """Create an entity without values."""
        self.declared, self.host, self.key = declared, host, key
        self.values: dict[str, Any] = {}
        self.provenance: dict[str, Span] = {}
        self._first: Observation | None = None
        self._later: dict[str, Observation] = {}

    @classmethod
    def begun(cls, declared: Declared, host: str | None, observation: Observation) -> Entity:
        """Create an entity from its first observation."""
        entity = cls(declared, host, observation.key)
        entity.add(observation, [])
        return entity

    def add(self, observation: Observation, conflicts: list[model.Conflict]) -> None:
        """Merge the fields of one more observation, without those that the type does not have.

        Append to ``conflicts``.
        """
        known, span = self.declared.fields, observation.span
        if self._first is None:
            self._first = observation
            self.values = {name: value for name, value in observation.fields.items() if name in known}
            self.provenance = dict.fromkeys(("", *self.values), span)
        else:
            for name, value in observation.fields.items():
                if name in self.values:
                    self._put(name, value, observation, conflicts)
                elif name in known:
                    self._set(name, value, observation)
        for kind in observation.fields.get("complete", ()):
            self.provenance.setdefault(f"complete:{kind}", span)

    def _origin(self, name: str) -> Observation:
        """The observation that a value came from."""
        origin = self._later.get(name, self._first)
        assert origin is not None  # noqa: S101  (a value without an observation)
        return origin

    def _put(self, name: str, value: Any, new: Observation, conflicts: list[model.Conflict]) -> None:  # noqa: ANN401
        old, merge = self._origin(name), self.declared.merges.get(name)
        if merge is None or merge is LATEST:
            if self.values[name] != value:
                self._disagree(name, value, old, new, conflicts)
        else:
            held, self.values[name] = self.values[name], merge.combine(self.values[name], value)
            if merge.picks and self.values[name] != held:
                self._set(name, self.values[name], new)

    def _disagree(
        self, name: str, value: Any, old: Observation, new: Observation, conflicts: list[model.Conflict]  # noqa: ANN401
    ) -> None:  # fmt: skip
        held = self.values[name]
        if isinstance(held, VersionRange) and isinstance(value, VersionRange):
            both = held.intersect(value)
            printed = [version for version in (held, value) if version.text]
            if both is None and len(printed) == 1:  # a printed version wins over an inferred one
                both = printed[0]
                spans = self.provenance[name], new.span
                shown = _shown(held), _shown(value)
                conflicts.append(model.Conflict(self.label, name, shown, spans, _shown(both)))
            if both:
                self._set(name, both, new if value.known else old)
                return
        stronger = _STANDING[new.standing] - _STANDING[old.standing]
        if stronger == 0 and old.span.source == new.span.source and self.declared.merges.get(name) is LATEST:
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
        self._later[name] = observation
        self.provenance[name] = observation.span

    @property
    def label(self) -> str:
        """A name for messages: ``Port node1 mlx5_0 1``."""
        parts = [self.declared.kind.__name__, self.host, *self.key]
        return " ".join(str(part) for part in parts if part is not None)


Merged = tuple[str | None, Observation | Entity]
"""A host name (or None) and an entity: its only observation, as for most of a large cluster, or the merged one."""


class Alike:
    """A cache of values and facts that are equal on many hosts and ranks, so that each is built and stored once."""

    def __init__(self) -> None:
        """Start with an empty cache."""
        self._lists: dict[tuple[type[Fact], str, bytes], Any] = {}
        self._facts: dict[tuple[type[Fact], tuple[Any, ...], bytes], Any] = {}

    def list_of(self, kind: type[Fact], name: str, value: Any) -> Any:  # noqa: ANN401
        """Return the value of a field.

        A list that fits the field's type is converted once and shared by all equal ones.
        """
        if not isinstance(value, list) or not value or not isinstance(value[0], dict):
            return value
        try:
            place = kind, name, msgspec.msgpack.encode(value)
            if place not in self._lists:
                self._lists[place] = msgspec.convert(value, type_of(kind, name), from_attributes=True)
        except _UNLIKE:
            return value
        return self._lists[place]

    def fact(self, declared: Declared, host: str | None, seen: Observation) -> Any:  # noqa: ANN401
        """Build the fact of an entity that was observed once.

        Equal facts of other hosts differ in host and provenance only.
        """
        fields = seen.fields
        if host is None or "host" not in declared.fields or "host" in fields or not fields.keys() <= declared.fields:
            return build(Entity.begun(declared, host, seen))
        try:
            place = declared.kind, seen.key, msgspec.msgpack.encode(fields)
        except _UNLIKE:
            return build(Entity.begun(declared, host, seen))
        if place not in self._facts:
            self._facts[place] = build(Entity.begun(declared, host, seen))
        like = self._facts[place]
        if like is None:
            return None
        return msgspec.structs.replace(like, host=host, provenance=dict.fromkeys(("", *fields), seen.span))


_UNLIKE = (msgspec.MsgspecError, TypeError, OverflowError)
"""Errors for values that do not fit their type or cannot be encoded, and so cannot be compared by their bytes."""


def build(entity: Entity, alike: Alike | None = None) -> Any:  # noqa: ANN401
    """Build the fact from an entity; values that do not fit their field are dropped. None when its key does not fit."""
    target = entity.declared.kind
    fields = {**entity.values, **dict(_key_values(entity))}
    if alike is not None:
        fields = {name: alike.list_of(target, name, value) for name, value in fields.items()}
    if "host" in entity.declared.fields and entity.host is not None:
        fields.setdefault("host", entity.host)
    fields["provenance"] = entity.provenance
    try:
        return _convert(fields, target)
    except msgspec.ValidationError:
        good = {name: value for name, value in fields.items() if fits(target, name, value)}
        try:
            return _convert(good, target)
        except (msgspec.ValidationError, TypeError):
            return None
    except TypeError:
        return None


def _key_values(entity: Entity) -> Iterator[tuple[str, Any]]:
    """The parts of the key that are not None, each with the name of its field."""
    for name, value in zip(entity.declared.key or (), entity.key, strict=False):
        if value is not None:
            if isinstance(name, str):
                yield name, value
            else:
                yield next((one for one in name if fits(entity.declared.kind, one, value)), name[0]), value


def _convert(fields: Mapping[str, Any], target: type[T]) -> T:
    known = {name: value for name, value in fields.items() if value is not None}
    return msgspec.convert(known, target, from_attributes=True)


def fits(target: type[Fact], name: str, value: Any) -> bool:  # noqa: ANN401
    """Is the value valid for the field ``name`` of this type?"""
    try:
        msgspec.convert(value, type_of(target, name), from_attributes=True)
    except (msgspec.ValidationError, TypeError):
        return False
    return True


def _shown(value: Any) -> str:  # noqa: ANN401
    return value if isinstance(value, str) else str(value)
