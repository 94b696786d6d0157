"""A rule made ready: its conditions and texts as checked trees, and, on first use, as functions.

Only the trees are stored in a compiled catalogue; parsing and type checking never happen on the start-up path.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import msgspec

from ncdiag.engine.closures import Run, Test, test, value
from ncdiag.engine.kleene import ABSENT
from ncdiag.engine.tree import Path, Template, Tree, conjuncts, event_names, names_read
from ncdiag.engine.walk import Found, Frame, fan_out, single
from ncdiag.facts.scalars import Constraint
from ncdiag.facts.view import events_with


class Bound(msgspec.Struct, frozen=True, array_like=True):
    """A name of ``each`` and the path whose elements it takes."""

    name: str
    path: Path


class Program(msgspec.Struct, frozen=True, dict=True):
    """The trees of a rule. ``templates``: every text with holes; ``fix_when``: the conditions of each fix."""

    each: tuple[Bound, ...]
    when: tuple[Tree, ...]
    unless: tuple[Tree, ...]
    nccl: Constraint
    templates: dict[str, Template]
    fix_when: tuple[tuple[Tree, ...], ...] = ()
    fix_nccl: tuple[Constraint, ...] = ()

    @functools.cached_property
    def tests(self) -> tuple[Test, ...]:
        """The functions of ``when``."""
        return tuple(map(test, self.when))

    @functools.cached_property
    def guards(self) -> tuple[Test, ...]:
        """The functions of ``unless``."""
        return tuple(map(test, self.unless))

    @functools.cached_property
    def fix_tests(self) -> tuple[tuple[Test, ...], ...]:
        """The functions of the fixes' conditions."""
        return tuple(tuple(map(test, conditions)) for conditions in self.fix_when)

    @functools.cached_property
    def levels(self) -> tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]:
        """Indices of the conditions and guards that can be judged once the first 0, 1, 2 ... names are bound."""
        depths = {"job": 0} | {bound.name: depth for depth, bound in enumerate(self.each, 1)}

        def at(trees: tuple[Tree, ...]) -> list[tuple[int, ...]]:
            found = [max([0, *(depths[name] for name in names_read(tree))]) for tree in trees]
            return [tuple(i for i, depth in enumerate(found) if depth == level) for level in range(len(self.each) + 1)]

        return tuple(zip(at(self.when), at(self.unless), strict=True))

    @functools.cached_property
    def walks(self) -> tuple[Callable[[Frame], Found], ...]:
        """What finds the elements of each name."""
        needed = tuple(tree for clause in self.when for tree in conjuncts(clause))
        return tuple(_walk(bound, event_names(needed, bound.name, events_with)) for bound in self.each)

    @functools.cached_property
    def slots(self) -> dict[str, tuple[Run | None, ...]]:
        """The functions of the holes of each text, None for the parts that have none."""
        return {
            text: tuple(value(part.tree) if not isinstance(part, str) and part.tree else None for part in parts)
            for text, parts in self.templates.items()
        }


def _walk(bound: Bound, events: tuple[str, ...] | None) -> Callable[[Frame], Found]:
    path = bound.path
    if not path.many:
        read = single(path)

        def one(frame: Frame) -> Found:
            found: Any = read(frame)
            return Found([] if found is None or found is ABSENT else [found], open=found is None, missing=found is None)

        return one
    if events is not None and path.start == "job" and [step.name for step in path.steps] == ["events"]:
        return lambda frame: Found(list(frame.context.events(events)), open=False)
    return fan_out(path)
