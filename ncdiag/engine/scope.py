"""Names and paths of the condition language: what a name refers to and what a dotted path leads to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from ncdiag.base.errors import suggestion
from ncdiag.engine.kinds import (
    FLOAT,
    INT,
    STR,
    Entity,
    Kind,
    Many,
    Opaque,
    Scalar,
    SettingsOf,
    Table,
    derived_fields,
    stored_fields,
)
from ncdiag.engine.phrases import Added
from ncdiag.engine.tree import Path, Step, StepKind
from ncdiag.facts.model import Host, Job, Setting
from ncdiag.facts.model.declared import declared
from ncdiag.facts.model.marks import IF_UNSET

_ANY_HOLE = Scalar(STR.names | INT.names | FLOAT.names)


class Names(msgspec.Struct, frozen=True, kw_only=True):
    """The names that rules may use besides the facts; an empty collection allows every name.

    ``settings``: variables known to NCCL and its environment; ``events``: events of the messages, ``categories`` the
    kinds of things that they are about, ``reasons`` the groups of errors; ``holes``: the fields of all events with
    their types (``int float str``); ``values``: the names for ``{best.NAME}``; ``sections``: section kinds; ``words``:
    the named lists of the rule's area (``in words.NAME``); ``layers``: the layers of the shipped areas; ``classes``:
    the classes of words that phrases of signs use (``~missing``); ``phrases``: further phrases of signs in other
    languages, by the names of the rule and of the sign; ``objects`` and ``failings``: the objects and reasons of cells.
    """

    settings: frozenset[str] = frozenset()
    events: frozenset[str] = frozenset()
    categories: frozenset[str] = frozenset()
    reasons: frozenset[str] = frozenset()
    holes: Mapping[str, frozenset[str]] = {}
    values: frozenset[str] = frozenset()
    sections: frozenset[str] = frozenset()
    objects: frozenset[str] = frozenset()
    failings: frozenset[str] = frozenset()
    words: Mapping[str, tuple[str | int, ...]] = {}
    layers: Mapping[str, int] = {}
    classes: Mapping[str, tuple[str, ...]] = {}
    phrases: Mapping[str, Mapping[str, Added]] = {}


class PathError(Exception):
    """A path is invalid; ``index`` is the part that failed, 0 for the name at its start."""

    def __init__(self, reason: str, index: int, hint: str = "") -> None:
        """Store the parts."""
        super().__init__(reason)
        self.reason, self.index, self.hint = reason, index, hint


class Scope(msgspec.Struct, frozen=True):
    """The bound names with their ``kinds`` and full paths (``job.ranks.gpus``), and the collections being iterated."""

    names: Names
    kinds: Mapping[str, Kind] = msgspec.field(default_factory=lambda: {"job": Entity(Job)})
    origins: Mapping[str, str] = msgspec.field(default_factory=lambda: {"job": "job"})
    walked: frozenset[str] = frozenset()

    def bind(self, name: str, path: Path, kind: Kind) -> Scope:
        """The same scope with ``name`` bound to the elements of ``path``, which have the kind ``kind``."""
        return Scope(
            self.names,
            {**self.kinds, name: kind},
            {**self.origins, name: self.origin(path)},
            self.walked | self.collections(path),
        )

    def origin(self, path: Path) -> str:
        """The path with its start expanded, beginning with ``job``."""
        return ".".join([self.origins[path.start], *(step.name for step in path.steps)])

    def collections(self, path: Path) -> frozenset[str]:
        """The collections that ``path`` iterates over, each as a full path."""
        found, names = set(), [self.origins[path.start]]
        for step in path.steps:
            names.append(step.name)
            if step.many:
                found.add(".".join(names))
        return frozenset(found)

    def resolve(self, parts: Sequence[str]) -> tuple[Path, Kind]:
        """Resolve ``parts[0].parts[1]...``; the kind is `Many` if the path fans out.

        Raises PathError if it is invalid.
        """
        kind = self.kinds.get(parts[0])
        if kind is None:
            reason = f"nothing is called {parts[0]!r} here"
            raise PathError(reason, 0, self._start_hint(parts[0]))
        steps: list[Step] = []
        for index, name in enumerate(parts[1:], 1):
            if isinstance(kind, Scalar) and kind.is_host:
                steps.append(Step("host", "host of"))
                kind = Entity(Host)
            kind, how = self._next(kind, name, index)
            if how is not None:
                many = isinstance(kind, Many)
                kind = kind.item if isinstance(kind, Many) else kind
                steps.append(Step(how, name, many))
        if isinstance(kind, SettingsOf):
            reason = "a variable has to be named"
            raise PathError(reason, len(parts) - 1, "for instance setting.NCCL_IB_TIMEOUT.effective")
        if isinstance(kind, Opaque | Many):
            reason = f"{parts[-1]!r} cannot be used in a condition"
            raise PathError(reason, len(parts) - 1)
        fans_out = any(step.many for step in steps)
        return Path(parts[0], tuple(steps), fans_out), Many(kind) if fans_out else kind

    def _start_hint(self, name: str) -> str:
        if name in ("true", "false", "null", "none"):
            return (
                f"write {name.title()}"
                if name in ("true", "false")
                else ("an unknown value makes the condition unknown by itself")
            )
        return suggestion(name, self.kinds)

    def _next(self, kind: Kind, name: str, index: int) -> tuple[Kind, StepKind | None]:
        """The kind of ``.name`` and the step to it (None if no step is needed yet)."""
        if isinstance(kind, Entity):
            if name == "setting" and "settings" in stored_fields(kind.cls):
                return SettingsOf(), None
            return self._field(kind.cls, name, index)
        if isinstance(kind, SettingsOf):
            self._check_variable(name, index)
            return Entity(Setting), "setting"
        if isinstance(kind, Table):
            if kind.item == Entity(Setting):
                self._check_variable(name, index)
            return kind.item, "optional_key" if kind.optional else "key"
        reason = f"{kind} has no fields, so .{name} leads nowhere"
        raise PathError(reason, index)

    def _check_variable(self, name: str, index: int) -> None:
        known = self.names.settings
        if known and name not in known:
            reason = f"no variable is called {name!r}"
            raise PathError(reason, index, suggestion(name, known))

    def _field(self, cls: type, name: str, index: int) -> tuple[Kind, StepKind]:
        stored, derived = stored_fields(cls), derived_fields(cls)
        if name in stored:
            if cls.__name__ == "Event" and name == "event" and self.names.events:
                return Scalar(STR.names, self.names.events), "field"
            return stored[name], "setting_field" if name in declared(cls).marked[IF_UNSET] else "field"
        if name in derived:
            return (cls.__name__ == "Event" and self._of_event(name)) or derived[name], "derived"
        choices = {*stored, *derived}
        if cls.__name__ == "Event":
            holes = self.names.holes
            if not holes or name in holes:
                return Scalar(holes[name]) if holes else _ANY_HOLE, "hole"
            choices |= set(holes)
        if "settings" in stored:
            choices.add("setting")
        reason = f"{cls.__name__} has no field {name!r}"
        raise PathError(reason, index, suggestion(name, choices))

    def _of_event(self, name: str) -> Scalar | None:
        """The kind of a derived field of events whose possible values are listed."""
        values = {"category": self.names.categories, "reason": self.names.reasons}.get(name)
        return Scalar(STR.names, values) if values else None
