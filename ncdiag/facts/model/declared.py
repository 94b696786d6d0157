"""What the classes of facts declare about merging and closing: read once from each class, on first use."""

from __future__ import annotations

import functools
import sys
import typing
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import msgspec

from ncdiag.facts.model.base import Fact, Key
from ncdiag.facts.model.job import Job
from ncdiag.facts.model.marks import Closing, Mark, Merge


class Declared(msgspec.Struct, frozen=True):
    """The declarations of one type of facts: its ``fields``, its ``key``, and the marks on its fields.

    ``collections`` maps each field that holds facts of a type that belongs to this one to that type. ``merges`` and
    ``closings`` map field names to their marks. ``host`` is the value of ``Fact.HOST``.
    """

    kind: type[Fact]
    key: Key | None
    host: str
    fields: frozenset[str]
    merges: Mapping[str, Merge]
    closings: Mapping[str, Closing]
    collections: Mapping[str, type[Fact]]
    marked: Mapping[Mark, tuple[str, ...]]


@functools.cache
def declared(kind: type[Any]) -> Declared:
    """Return the declarations of a type of facts, or of a struct that is a part of one."""
    hints = _hints(kind)
    marks = [(name, mark) for name, hint in hints.items() for mark in getattr(hint, "__metadata__", ())]
    return Declared(
        kind=kind,
        key=getattr(kind, "KEY", None),
        host="some" if "host" in _required(kind) else getattr(kind, "HOST", "said"),
        fields=frozenset(getattr(kind, "__struct_fields__", ())),
        merges={name: mark for name, mark in marks if isinstance(mark, Merge)},
        closings={name: mark for name, mark in marks if isinstance(mark, Closing)},
        collections={name: part for name, hint in hints.items() if (part := _collected(hint))},
        marked={wanted: tuple(name for name, mark in marks if mark is wanted) for wanted in Mark},
    )


@functools.cache
def observed() -> Mapping[str, Declared]:
    """Return the types that a parser may observe, by name: Job, and all types that belong to it, directly or not."""
    return {found.kind.__name__: found for found in _below(Job)}


def is_closed(owner: Any, field: str) -> bool:  # noqa: ANN401  (a fact or a part of one)
    """Return True if the collection ``field`` of ``owner``, which is not None, holds everything that exists.

    A collection without a `Closing` mark is always closed: it holds what one line or one tool printed, completely.
    """
    closing = declared(owner.__class__).closings.get(field)
    return closing is None or closing.test(owner, field)


def _below(kind: type[Fact]) -> Iterator[Declared]:
    found = declared(kind)
    yield found
    for part in found.collections.values():
        if part.KEY is not None or kind.KEY == ():  # without a key, only the host says what it belongs to
            yield from _below(part)


@functools.cache
def type_of(kind: type[Any], field: str) -> Any:  # noqa: ANN401  (a type of any form)
    """Return the type annotation of one field, evaluated."""
    owner = next(base for base in kind.__mro__ if field in getattr(base, "__annotations__", {}))
    return _evaluated(owner, {field: owner.__annotations__[field]})[field]


@functools.cache
def fields_with(scalar: type[Any]) -> Mapping[str, frozenset[str]]:
    """Return, for each type that can be observed, the fields whose annotation names the ``scalar`` type."""
    return {
        name: frozenset(
            field for base in found.kind.__mro__ for field, text in vars(base).get("__annotations__", {}).items()
            if scalar.__name__ in str(text)
        )
        for name, found in observed().items()
    }  # fmt: skip


def _hints(kind: type[Any]) -> dict[str, Any]:
    """The evaluated annotations of fields, without those that are a plain name: evaluation is slow."""
    return _evaluated(kind, {name: text for name, text in getattr(kind, "__annotations__", {}).items() if "[" in text})


def _evaluated(kind: type[Any], texts: dict[str, str]) -> dict[str, Any]:
    """Evaluate annotations of ncdiag's own classes, in less than half the time of `typing.get_type_hints`."""
    space = vars(sys.modules[kind.__module__])
    return {name: eval(text, space) for name, text in texts.items()}  # noqa: S307


def _required(kind: type[Any]) -> set[str]:
    names, defaults = getattr(kind, "__struct_fields__", ()), getattr(kind, "__struct_defaults__", ())
    first = len(names) - len(defaults)
    late = (name for name, default in zip(names[first:], defaults, strict=True) if default is msgspec.NODEFAULT)
    return {*names[:first], *late}


def _collected(hint: Any) -> type[Fact] | None:  # noqa: ANN401  (a type of any form)
    """The type of facts that a field with this annotation holds a tuple of; None for any other field."""
    if typing.get_origin(hint) is Annotated:
        hint = hint.__origin__
    inner = typing.get_args(hint)[:1] if typing.get_origin(hint) is tuple else ()
    return next((kind for kind in inner if isinstance(kind, type) and issubclass(kind, Fact)), None)
