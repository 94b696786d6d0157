"""Read the fields of facts by name, as rules do: stored and derived ones."""

from __future__ import annotations

import functools
from typing import Any

import msgspec

from ncdiag.facts.view import Derived, View
from ncdiag.knowledge import registry


def read(entity: Any, name: str, view: View) -> Any:  # noqa: ANN401
    """The value of a stored or derived field; None means unknown. Raises AttributeError for an unknown name."""
    kind: type[msgspec.Struct] = type(entity)
    found = derived_field(kind, name)
    return getattr(entity, name) if found is None else view.computed(entity, found)


@functools.cache
def derived_field(kind: type[msgspec.Struct], name: str) -> Derived | None:
    """The derived field; None if the field is stored."""
    if name in kind.__struct_fields__:
        return None
    found = registry().get((kind.__name__, name))
    if found is None:
        msg = f"{kind.__name__} has no field {name!r}"
        raise AttributeError(msg)
    return found


def variables_with(name: str) -> frozenset[str] | None:
    """The names of the only variables whose setting can have the field ``name``; None if all can."""
    found = registry().get(("Setting", name))
    return found.variables if found is not None else None


def events_with(name: str) -> frozenset[str] | None:
    """The names of the only events that can have the field ``name``; None if all can."""
    found = registry().get(("Event", name))
    return found.events if found is not None else None
