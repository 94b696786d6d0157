"""The facts as a reference: every type, field and derived field that a rule may name, from the model's own docstrings.

``ncdiag explain Host``, ``ncdiag explain Host.sees_no_gpu`` and docs/facts.md are made of it.
"""

from __future__ import annotations

import functools
import re
import types
import typing
from collections.abc import Iterator
from typing import Any

import msgspec

from ncdiag.facts import model
from ncdiag.knowledge import registry

_BUILT_IN = {"provenance"}
_SHOWN_VALUES = 12
_HEAD = (
    "What a rule may name, by type. A stored field comes from an input; a derived one is worked out from others. Every",
    "value may be unknown. This page is made by `ncdiag rules facts`; `ncdiag explain Host` shows an entry.",
)


class Field(msgspec.Struct, frozen=True):
    """A field of a fact: ``type`` as rules see it, ``meaning`` for derived ones, and the module that works it out."""

    owner: str
    name: str
    type: str
    meaning: str = ""
    module: str = ""

    @property
    def is_derived(self) -> bool:
        """True if it is computed from others."""
        return bool(self.module)


@functools.cache
def fact_types() -> dict[str, type[msgspec.Struct]]:
    """The types of facts and records by name, in alphabetic order."""
    found = {name: kind for name, kind in vars(model).items() if isinstance(kind, type)}
    return {name: kind for name, kind in sorted(found.items()) if issubclass(kind, msgspec.Struct) and name != "Fact"}


def meaning(kind: type) -> str:
    """The docstring of a type, in one paragraph."""
    return _plain(kind.__doc__ or "")


@functools.cache
def fields(owner: str) -> tuple[Field, ...]:
    """The stored fields of a type in their order, then the derived ones by name."""
    kind = fact_types()[owner]
    hints = typing.get_type_hints(kind, include_extras=True)
    stored = [Field(owner, name, type_text(hints[name])) for name in kind.__struct_fields__ if name not in _BUILT_IN]
    return (*stored, *sorted(_derived(owner), key=lambda field: field.name))


def field(name: str) -> Field | None:
    """``Host.sees_no_gpu``; None where there is no such field."""
    owner, _, rest = name.partition(".")
    if owner not in fact_types():
        return None
    return next((found for found in fields(owner) if found.name == rest), None)


def names() -> Iterator[str]:
    """All that can be asked for: types and their fields."""
    for owner in fact_types():
        yield owner
        yield from (f"{owner}.{found.name}" for found in fields(owner))


def _derived(owner: str) -> Iterator[Field]:
    for (of, name), found in registry().items():
        if of == owner:
            text = _plain(found.function.__doc__ or "")
            yield Field(owner, name, type_text(found.returns), text, found.function.__module__)


def type_text(kind: Any) -> str:  # noqa: ANN401  (a type of any form)
    """A type as people write it: ``number``, ``text``, ``list of Gpu``, ``one of down, init``."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Annotated:
        return type_text(inner[0])
    if origin in {typing.Union, types.UnionType}:
        known = [type_text(part) for part in inner if part is not type(None)]
        return " or ".join(dict.fromkeys(known))
    if origin is typing.Literal:
        more = ", ..." if len(inner) > _SHOWN_VALUES else ""
        return f"one of {', '.join(map(str, inner[:_SHOWN_VALUES]))}{more}"
    if origin in {tuple, list, frozenset}:
        return f"list of {type_text(inner[0])}" if inner else "list"
    if origin is dict:
        return f"mapping of {type_text(inner[0])} to {type_text(inner[1])}"
    plain = {bool: "yes or no", int: "number", float: "number", str: "text", type(None): "nothing"}
    return plain.get(kind) or str(getattr(kind, "__name__", kind))


def _plain(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


def page() -> str:
    """The reference as Markdown: a chapter a type, with its stored and its derived fields."""
    lines = ["# Facts", "", *_HEAD, ""]
    for owner, kind in fact_types().items():
        found = fields(owner)
        stored = [one for one in found if not one.is_derived]
        derived = [one for one in found if one.is_derived]
        lines += [f"## {owner}", "", meaning(kind), ""]
        lines += [", ".join(f"`{one.name}` ({one.type})" for one in stored) + ".", ""] if stored else []
        lines += [f"- `{one.name}` ({one.type}): {one.meaning}" for one in derived] + ([""] if derived else [])
    return "\n".join(lines).rstrip() + "\n"
