"""Stand-ins: one entity in place of all that differ in nothing but their faces.

The ranks of a large job are alike but for what identifies each of them: its number, its process, its host, the lines
that it printed. Such fields are faces: the host, the provenance, and what `ncdiag.facts.model.marks.FACE` marks. A
stand-in has the other fields of its members and refuses to show a face that has a value, so whatever is computed from
it without a `Refusal` is the same for each member.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, NoReturn

from ncdiag.facts.model import Fact, Host, Rank
from ncdiag.facts.model.declared import declared
from ncdiag.facts.model.marks import FACE
from ncdiag.facts.scalars import VersionRange

HIDDEN = object()
"""Stored in a face of a stand-in that has a value."""


class Refusal(BaseException):  # not an Exception: no handler of errors takes it for one
    """A face of a stand-in was read: each member has to be asked."""


def _refuse(*_: Any, **__: Any) -> NoReturn:  # noqa: ANN401
    raise Refusal


class Nameless(str):
    """The unreadable name of a stand-in's host, by which a view finds the ``host`` and its NCCL ``version``.

    ``ranks`` are the stand-ins of the ranks on a host; None if they may differ between the hosts of the class.
    """

    __slots__ = ("host", "ranks", "version")
    host: Host | None
    version: VersionRange | None
    ranks: Sequence[Rank] | None

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __hash__ = _refuse
    __str__ = __repr__ = __format__ = __len__ = __iter__ = __contains__ = __getitem__ = _refuse
    __add__ = __mod__ = __mul__ = _refuse

    def __bool__(self) -> bool:
        """True, as for every name."""
        return True

    def __getattribute__(self, name: str) -> Any:  # noqa: ANN401
        """The three attributes; no method of a text."""
        if name not in {"host", "ranks", "version", "__class__"}:
            raise Refusal
        return super().__getattribute__(name)


def stand_in_of(entity: Any, name: Nameless) -> Any:  # noqa: ANN401
    """The entity without its faces; its host and that of its parts has the ``name``."""
    cls: type[Fact] = type(entity)
    kind = kind_of(cls)
    host = getattr(entity, kind.host) if kind.host else None
    fields = {field: _shown(getattr(entity, field), name, host) for field in kind.open}
    for field in kind.hidden:
        value = getattr(entity, field)
        fields[field] = value if is_empty(value) else name if field == kind.host else HIDDEN
    return kind.stand_in(**fields)


def _shown(value: Any, name: Nameless, host: str | None) -> Any:  # noqa: ANN401
    if isinstance(value, tuple):
        return tuple([_shown(one, name, host) for one in value])
    if isinstance(value, dict):
        return {key: _shown(one, name, host) for key, one in value.items()}
    if isinstance(value, Fact) and getattr(value, "host", host) == host:
        return stand_in_of(value, name)
    return value


def is_empty(value: Any) -> bool:  # noqa: ANN401
    """True for the value of a face that a stand-in shows: there is none."""
    return value is None or value == ()


class Kind(NamedTuple):
    """How the entities of one type are compared and stood in for.

    ``host`` is the field with the host's name, ``hidden`` are the faces, ``open`` the other fields; ``faces`` and
    ``rest`` read those that are compared. ``stand_in`` is the type of the stand-ins.
    """

    host: str | None
    hidden: tuple[str, ...]
    open: tuple[str, ...]
    faces: Callable[[Any], tuple[Any, ...]]
    rest: Callable[[Any], tuple[Any, ...]]
    stand_in: Callable[..., Any]


@functools.cache
def kind_of(cls: type[Fact]) -> Kind:
    """How the entities of this type are compared and stood in for."""
    names = cls.__struct_fields__
    host = "name" if cls is Host else "host" if "host" in names else None
    marked = tuple(name for name in declared(cls).marked[FACE] if name != host)
    hidden = ("provenance", *((host,) if host else ()), *marked)
    shown = tuple(name for name in names if name not in hidden)
    faces = {name: property(functools.partial(_face, getattr(cls, name))) for name in hidden if name != host}
    acts = dict.fromkeys(("__eq__", "__ne__", "__hash__", "__repr__"), _refuse)
    stand_in = type(
        cls.__name__, (cls,), {**faces, **acts, "__class__": property(lambda _: cls), "__module__": cls.__module__}
    )
    return Kind(host, hidden, shown, _reader(marked), _reader(shown), stand_in)


def _face(slot: Any, stand_in: Any) -> Any:  # noqa: ANN401
    """The value of a face of a stand-in, where it has none."""
    value = slot.__get__(stand_in)
    if value is HIDDEN:
        raise Refusal
    return value


def _reader(names: tuple[str, ...]) -> Callable[[Any], tuple[Any, ...]]:
    """A function that returns the values of these fields."""
    if len(names) > 1:
        return operator.attrgetter(*names)
    return lambda entity: tuple([getattr(entity, name) for name in names])


def has_faces(cls: type[Any]) -> bool:
    """True if the entities of a type have faces by which alone they differ."""
    return issubclass(cls, Fact) and bool(declared(cls).marked[FACE])
