"""Classes of entities that differ in nothing but their faces, each with its stand-in (`ncdiag.facts.stand_in`)."""

from __future__ import annotations

import weakref
from types import NoneType
from typing import Any

from ncdiag.facts.model import Fact, Host
from ncdiag.facts.stand_in import HIDDEN, Nameless, is_empty, kind_of, stand_in_of
from ncdiag.facts.view import View

_ATOMS = frozenset({NoneType, bool, int, float, str})


def classes_of(view: View) -> Classes:
    """The classes of the entities of a view; the same object in each call."""
    return view.remembered(("classes",), lambda: Classes(view))


class Classes:
    """The entities of a view by class: equal in all but their faces, on hosts of the same class."""

    def __init__(self, view: View) -> None:
        """Start without classes."""
        self._view = weakref.proxy(view)  # the view remembers this object: no cycle, as memory is not searched for any
        self._numbers: dict[Any, int] = {}
        self._of: dict[int, int] = {}
        self._parts: dict[int, int] = {}
        self._shared: dict[int, int] = {}  # parts that name no host: many ranks share them
        self._held: list[Any] = []  # what is numbered by its id has to stay alive
        self._stand_ins: dict[int, Any] = {}

    def number(self, entity: Any) -> int:  # noqa: ANN401
        """The number of the entity's class."""
        found = self._of.get(id(entity))
        if found is None:
            host = self._host(entity)
            if host is None:
                place, name = None, None
            else:
                place, name = self._view.version(host) if host is entity else self.number(host), host.name
            found = self._of[id(entity)] = self._numbered((place, self._part(entity, name)))
            self._held.append(entity)
        return found

    def stand_in(self, entity: Any) -> Any:  # noqa: ANN401
        """The stand-in of the entity's class."""
        number = self.number(entity)
        if number not in self._stand_ins:
            name, host = Nameless(), self._host(entity)
            name.host = None
            self._stand_ins[number] = found = stand_in_of(entity, name)
            if host is not None:
                name.host = found if host is entity else self.stand_in(host)
                name.version = self._view.version(host)
        return self._stand_ins[number]

    def _host(self, entity: Any) -> Host | None:  # noqa: ANN401
        return entity if isinstance(entity, Host) else self._view.host(getattr(entity, "host", None))

    def _numbered(self, key: Any) -> int:  # noqa: ANN401
        return self._numbers.setdefault(key, len(self._numbers) + 1)

    def _part(self, entity: Any, host: str | None) -> int:  # noqa: ANN401
        """The number of the entities that are equal in all but their faces, and have values in the same faces.

        An entity of another host than ``host``, and one with a value that cannot be compared, has its own number.
        """
        cls: type[Fact] = type(entity)
        kind = kind_of(cls)
        if kind.host is not None and getattr(entity, kind.host) != host:
            return self._numbered(id(entity))
        known = self._parts if kind.host else self._shared
        found = known.get(id(entity))
        if found is None:
            faces = [value if is_empty(value) else HIDDEN for value in kind.faces(entity)]
            rest = [v if v.__class__ in _ATOMS else self._plain(v, host) for v in kind.rest(entity)]
            try:
                found = self._numbered((cls, *faces, *rest))
            except TypeError:
                found = self._numbered(id(entity))
            known[id(entity)] = found
            self._held.append(entity)
        return found

    def _plain(self, value: Any, host: str | None) -> Any:  # noqa: ANN401
        """The value without the faces in it."""
        if value.__class__ is tuple:
            if not value or value[0].__class__ in _ATOMS:
                return value
            shared = self._shared
            return tuple([shared.get(id(v)) or self._plain(v, host) for v in value])
        if value.__class__ is dict:
            return tuple([(key, v if v.__class__ in _ATOMS else self._plain(v, host)) for key, v in value.items()])
        return self._part(value, host) if isinstance(value, Fact) else value
