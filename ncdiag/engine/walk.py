"""Follow paths from fact to fact at run time: steps, fan-out, and which collections are complete."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, cast

import msgspec

from ncdiag.engine.alike import Groups
from ncdiag.engine.fields import derived_field
from ncdiag.engine.narrow import FEW, Index, Narrowing
from ncdiag.engine.three_valued import ABSENT
from ncdiag.engine.tree import Path, Step
from ncdiag.facts.model import Event, Host, Job, Setting
from ncdiag.facts.model.declared import declared, is_closed
from ncdiag.facts.view import View


class Context:
    """One job being judged: its view, its events by name, and results that all instances of a rule share."""

    def __init__(self, view: View) -> None:
        """Start with empty caches."""
        self.view = view
        self.memo: dict[object, Any] = {}
        self._events: dict[str, list[Event]] | None = None
        self._groups: dict[int, tuple[Sequence[Any], Groups | None]] = {}
        self._indexes: dict[tuple[int, str], Index] = {}

    def events(self, names: Iterable[str]) -> list[Event]:
        """The job's events of these names, in the order of the input."""
        by_name = self._by_name()
        found = [events for name in dict.fromkeys(names) if (events := by_name.get(name))]
        return found[0] if len(found) == 1 else sorted(itertools.chain.from_iterable(found), key=lambda e: e.order)

    def has_any(self, names: Iterable[str]) -> bool:
        """True if the job has an event of one of these names."""
        return not self._by_name().keys().isdisjoint(names)

    def alike(self, items: Sequence[Any]) -> Groups | None:
        """The elements of a path in groups of which one stand-in is asked; None if each is to be judged by itself."""
        if id(items) not in self._groups:  # rules share the elements of a path
            self._groups[id(items)] = items, Groups.of(items, self.view)
        return self._groups[id(items)][1]

    def narrowed(self, items: Sequence[Any], to: Narrowing | None) -> Sequence[Any]:
        """The elements of a path without those for which a condition is known to be false, unless they are few."""
        if to is None or len(items) < FEW:
            return items
        key = id(items), to.field  # rules share the elements of a path
        if key not in self._indexes:
            self._indexes[key] = Index(items, to.field)
        return self._indexes[key].of(to.values)

    def _by_name(self) -> dict[str, list[Event]]:
        if self._events is None:
            found: dict[str, list[Event]] = defaultdict(list)
            for event in self.view.job.events:
                found[event.event].append(event)
            self._events = dict(found)
        return self._events


class Frame:
    """The bound names while one instance is evaluated; ``reads`` collects (entity, field) if evidence is wanted."""

    __slots__ = ("context", "names", "reads")

    def __init__(self, context: Context, names: dict[str, Any], reads: list[tuple[Any, str]] | None = None) -> None:
        """Bind ``job`` in addition to ``names``."""
        self.context, self.reads = context, reads
        self.names = {"job": context.view.job, **names}


class Found(msgspec.Struct):
    """The elements at the end of a path; ``open``: there may be more, or some of them are unknown.

    ``missing``: input was missing on the way, so that an empty result means nothing. Of the job's own collections, only
    an empty one is missing, and never the events: a program without problems prints nothing. ``closers`` are the
    section kinds that would show the missing collections completely.
    """

    items: list[Any]
    open: bool
    missing: bool = False
    closers: frozenset[str] = frozenset()


def _host(view: View, name: str | None) -> Host | None:
    """The host of a fact; of one that names none, the only host that was seen."""
    return view.job.hosts[0] if name is None and len(view.job.hosts) == 1 else view.host(name)


Take = Callable[[Frame, Any], Any]
"""One step: from an entity to a value, None if it is unknown."""


def take(step: Step) -> Take:  # noqa: PLR0911  (one line a kind of step)
    """The function of one step."""
    name = step.name
    if step.kind == "derived":
        return _derived(name)
    if step.kind == "host":
        return lambda frame, entity: _host(frame.context.view, entity)
    if step.kind == "setting":
        return lambda frame, entity: frame.context.view.setting(entity, name)
    if step.kind == "setting_field":
        return lambda frame, entity: _read(frame, entity, name, _setting_field(entity, name))
    if step.kind == "hole":
        return lambda frame, entity: _read(frame, entity, name, entity.fields.get(name))
    if step.kind == "key":
        return lambda _, table: table.get(name)
    if step.kind == "optional_key":
        return lambda _, table: table.get(name, ABSENT)

    def stored(frame: Frame, entity: Any) -> Any:  # noqa: ANN401
        if frame.reads is not None:
            frame.reads.append((entity, name))
        return getattr(entity, name, None)

    return stored


def _derived(name: str) -> Take:
    def run(frame: Frame, entity: Any) -> Any:  # noqa: ANN401
        if frame.reads is not None:
            frame.reads.append((entity, name))
        kind: type[msgspec.Struct] = type(entity)
        view, found = frame.context.view, derived_field(kind, name)
        return getattr(entity, name) if found is None else view.computed(entity, found)

    return run


def _read(frame: Frame, entity: Any, name: str, value: Any) -> Any:  # noqa: ANN401
    if frame.reads is not None:
        frame.reads.append((entity, name))
    return value


def _setting_field(setting: Setting, name: str) -> Any:  # noqa: ANN401
    value = getattr(setting, name)
    return ABSENT if value is None and setting.is_set is False else value


def single(path: Path) -> Callable[[Frame], Any]:
    """A path without fan-out: its value, None if a step on the way is unknown."""
    start = path.start
    if not path.steps:
        return lambda frame: frame.names[start]
    takes = tuple(map(take, path.steps))
    if len(takes) == 1:
        only = takes[0]
        return lambda frame: only(frame, frame.names[start])

    moves = tuple(zip(takes, _names(path), strict=True))

    def run(frame: Frame) -> Any:  # noqa: ANN401
        value = frame.names[start]
        for function, is_name in moves:
            value = function(frame, value)
            if value is ABSENT or (value is None and not is_name):
                return value
        return value

    return run


def _names(path: Path) -> tuple[bool, ...]:
    """For each step: does it give the name of a host for the next one, which knows a host without a name as well?"""
    return (*(step.kind == "host" for step in path.steps[1:]), False)


Walk = Callable[[Frame], Found]


def fan_out(path: Path) -> Walk:
    """A path with fan-out: all its elements. A host that is reached several times is included once."""
    start = path.start
    moves = tuple((take(step), step, is_name) for step, is_name in zip(path.steps, _names(path), strict=True))

    def run(frame: Frame) -> Found:
        items, is_open, missing, closers = [frame.names[start]], False, False, frozenset[str]()
        for function, step, is_name in moves:
            reached: list[Any] = []
            for owner in items:
                value = function(frame, owner)
                if value is None and is_name:
                    reached.append(None)
                elif value is None:
                    is_open = missing = True
                elif value is ABSENT:
                    continue
                elif step.many:
                    reached += [item for item in value if item is not None]
                    if not is_closed(owner, step.name):
                        is_open = True
                        if not isinstance(owner, Job) or (not value and step.name != "events"):
                            missing = True
                            closers |= declared(owner.__class__).closings[step.name].kinds
                else:
                    reached.append(value)
            items = list({id(host): host for host in reached}.values()) if step.kind == "host" else reached
        return Found(items, is_open, missing, closers)

    return run


def shared(path: Path, walk: Walk, what: Hashable = None) -> Walk:
    """The same for a path that begins at the job, computed once; ``what`` names a walk that differs from `fan_out`."""
    if path.start != "job":
        return walk
    key = path, what

    def run(frame: Frame) -> Found:
        if frame.reads is not None:
            return walk(frame)
        memo = frame.context.memo
        if key not in memo:
            memo[key] = walk(frame)
        return cast("Found", memo[key])

    return run
