"""The types of the condition language, derived from the annotations of the facts.

The kind of an expression is a scalar, an entity, a collection over which paths fan out, or a table (a dict field).
"""

from __future__ import annotations

import functools
import types
import typing
from typing import Annotated, Any, Literal, Union

import msgspec

from ncdiag.facts.model.marks import WHOLE
from ncdiag.facts.scalars import Version, VersionRange
from ncdiag.knowledge import registry


class Scalar(msgspec.Struct, frozen=True):
    """One of ``bool int float str version``, several for a union; the ``values`` of an enum; may be a host name."""

    names: frozenset[str]
    values: frozenset[str] = frozenset()
    is_host: bool = False

    def __str__(self) -> str:
        if self.values:
            return "one of " + ", ".join(sorted(self.values))
        return "host name" if self.is_host else " or ".join(sorted(self.names))


class Entity(msgspec.Struct, frozen=True):
    """A fact of class ``cls``."""

    cls: type

    def __str__(self) -> str:
        return f"{self.cls.__name__}"


class Many(msgspec.Struct, frozen=True):
    """A collection of ``item``."""

    item: Kind

    def __str__(self) -> str:
        return f"collection of {self.item}"


class Table(msgspec.Struct, frozen=True):
    """A dict from names to ``item``; ``optional``: a missing key is known to be absent."""

    item: Kind
    optional: bool = False

    def __str__(self) -> str:
        return f"table of {self.item}"


class SettingsOf(msgspec.Struct, frozen=True):
    """The kind of ``rank.setting``: the variables of a rank, a host or the job, by name."""

    def __str__(self) -> str:
        return "settings by variable name"


class Opaque(msgspec.Struct, frozen=True):
    """Not usable in the language (spans)."""

    def __str__(self) -> str:
        return "not usable in a condition"


Kind = Scalar | Entity | Many | Table | SettingsOf | Opaque

BOOL, INT, FLOAT, STR = (Scalar(frozenset({name})) for name in ("bool", "int", "float", "str"))
VERSION = Scalar(frozenset({"version"}))
_SCALARS: dict[Any, Scalar] = {
    bool: BOOL, int: INT, float: FLOAT, str: STR, VersionRange: VERSION, Version: VERSION,
}  # fmt: skip


def kind_of(annotation: Any) -> Kind:  # noqa: ANN401, PLR0911  (one line a form of annotation)
    """The kind of an annotation of the facts; None in a union is ignored, because any value may be unknown."""
    if annotation in _SCALARS:
        return _SCALARS[annotation]
    if isinstance(annotation, type) and issubclass(annotation, msgspec.Struct) and annotation.__name__ != "Span":
        return Entity(annotation)
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Annotated:
        return _annotated(arguments)
    if origin is Literal:
        return Scalar(frozenset({"str"}), frozenset(map(str, arguments)))
    if origin in (Union, types.UnionType):
        return _union([kind_of(a) for a in arguments if a is not type(None)])
    if origin in (tuple, frozenset, list, set) and arguments:
        items = {kind_of(a) for a in arguments if a is not Ellipsis}
        return Many(items.pop()) if len(items) == 1 else Opaque()
    if origin is dict:
        return Table(kind_of(arguments[1]))
    return Opaque()


def _annotated(arguments: tuple[Any, ...]) -> Kind:
    kind = kind_of(arguments[0])
    if isinstance(kind, Table) and WHOLE in arguments:
        return Table(kind.item, optional=True)
    is_host = any(isinstance(m, msgspec.Meta) and (m.extra or {}).get("ref") == "Host" for m in arguments[1:])
    return Scalar(kind.names, kind.values, is_host=True) if is_host and isinstance(kind, Scalar) else kind


def _union(kinds: list[Kind]) -> Kind:
    if len(kinds) == 1:
        return kinds[0]
    names: set[str] = set()
    values: set[str] = set()
    for kind in kinds:
        if not isinstance(kind, Scalar):
            return Opaque()
        names |= kind.names
        values |= kind.values
    return Scalar(frozenset(names), frozenset(values))


@functools.cache
def stored_fields(cls: type) -> dict[str, Kind]:
    """The fields of a fact type, without its provenance."""
    hints = typing.get_type_hints(cls, include_extras=True)
    names = [name for name in getattr(cls, "__struct_fields__", ()) if name != "provenance"]
    return {name: kind_of(hints[name]) for name in names}


@functools.cache
def derived_fields(cls: type) -> dict[str, Kind]:
    """The derived fields of a fact type (`ncdiag.facts.view.registry`)."""
    found = {}
    for (owner, name), field in registry().items():
        if owner == cls.__name__:
            found[name] = kind_of(field.returns)
    return found
