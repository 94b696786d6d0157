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
        self._places: dict[int, int] = {}
        self._parts: dict[int, int] = {}
        self._shared: dict[int, int] = {}  # parts that name no host: many ranks share them
        self._held: list[Any] = []  # what is numbered by its id has to stay alive
        self._stand_ins: dict[int, Any] = {}

    def number(self, entity: Any) -> int:  # noqa: ANN401
        """The number of the entity's class. Hosts of one class have the same ranks, in their order."""
        found = self._of.get(id(entity))
        if found is None:
            host = self._host(entity)
            if host is None:
                found = self._numbered((None, self._part(entity, None)))
            elif host is entity:
                ranks = tuple([self._part(rank, host.name) for rank in self._view.ranks_on(host.name)])
                found = self._numbered((self._place(host), ranks))
            else:
                found = self._numbered((self._place(host), self._part(entity, host.name)))
            self._of[id(entity)] = found
            self._held.append(entity)
        return found

    def stand_in(self, entity: Any) -> Any:  # noqa: ANN401
        """The stand-in of the entity's class."""
        number, host = self.number(entity), self._host(entity)
        if number not in self._stand_ins:
            name = self._name(host)
            self._stand_ins[number] = found = stand_in_of(entity, name)
            if host is entity:
                name.host, name.ranks = found, [stand_in_of(one, name) for one in self._view.ranks_on(host.name)]
            elif host is not None:
                name.host = self._stand_in_of_place(host)
        return self._stand_ins[number]

    def _stand_in_of_place(self, host: Host) -> Any:  # noqa: ANN401
        """The stand-in of a host as what is on it sees it: it refuses to show the other ranks."""
        number = self._place(host)
        if number not in self._stand_ins:
            name = self._name(host)
            self._stand_ins[number] = name.host = stand_in_of(host, name)
        return self._stand_ins[number]

    def _name(self, host: Host | None) -> Nameless:
        """A name for a stand-in of what is on ``host``."""
        name = Nameless()
        name.host = name.ranks = None
        if host is not None:
            name.version = self._view.version(host)
        return name

    def _place(self, host: Host) -> int:
        """The number of the hosts that are equal in all but their faces, whatever ranks they have."""
        found = self._places.get(id(host))
        if found is None:
            found = self._numbered(("place", self._view.version(host), self._part(host, host.name)))
            self._places[id(host)] = found
            self._held.append(host)
        return found

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
