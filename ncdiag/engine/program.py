"""A compiled rule: its conditions and texts as checked trees and, on first use, as functions.

A compiled catalogue stores only the trees and data derived from them; nothing is parsed or type-checked at startup.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from ncdiag.engine.closures import Run, Test, test, value
from ncdiag.engine.confine import confined
from ncdiag.engine.narrow import Narrowing, narrowing
from ncdiag.engine.phrases import Heads, heads
from ncdiag.engine.three_valued import ABSENT
from ncdiag.engine.tree import EVENTS, Path, Quantifier, Template, Tree, conjuncts, event_names, names_read
from ncdiag.engine.walk import Found, Frame, fan_out, shared, single
from ncdiag.facts.scalars import Constraint


class Bound(msgspec.Struct, frozen=True, array_like=True):
    """A name of ``each`` and the path of its elements; of the job's events only those named ``events``."""

    name: str
    path: Path
    events: tuple[str, ...] | None = None


Level = tuple[tuple[int, ...], tuple[int, ...]]
"""Indexes of the conditions and of the guards that can first be judged once a given name is bound."""


class Program(msgspec.Struct, frozen=True, dict=True):
    """The trees of a rule.

    ``templates``: every text with placeholders; ``fix_when``, ``title_when``, ``sign_when``: conditions of each;
    ``sign_says``: for each sign the phrases of ``says`` and of ``also``, as `ncdiag.engine.phrases.written` makes them.

    ``levels``: what can be judged with 0, 1, 2 ... bound names. It and `Bound.events` are derived from the rest
    (`completed`).
    """

    each: tuple[Bound, ...]
    when: tuple[Tree, ...]
    unless: tuple[Tree, ...]
    nccl: Constraint
    templates: dict[str, Template]
    levels: tuple[Level, ...] = ()
    title_when: tuple[tuple[Tree, ...], ...] = ()
    fix_when: tuple[tuple[Tree, ...], ...] = ()
    fix_nccl: tuple[Constraint, ...] = ()
    sign_when: tuple[tuple[Tree, ...], ...] = ()
    sign_says: tuple[tuple[tuple[str, ...], ...], ...] = ()

    @functools.cached_property
    def tests(self) -> tuple[Test, ...]:
        """The functions of ``when``."""
        return tuple(map(test, self.when))

    @functools.cached_property
    def guards(self) -> tuple[Test, ...]:
        """The functions of ``unless``."""
        return tuple(map(test, self.unless))

    @functools.cached_property
    def title_tests(self) -> tuple[tuple[Test, ...], ...]:
        """The functions of the titles' conditions."""
        return tuple(tuple(map(test, conditions)) for conditions in self.title_when)

    @functools.cached_property
    def fix_tests(self) -> tuple[tuple[Test, ...], ...]:
        """The functions of the fixes' conditions."""
        return tuple(tuple(map(test, conditions)) for conditions in self.fix_when)

    @functools.cached_property
    def sign_tests(self) -> tuple[tuple[Test, ...], ...]:
        """The functions of the signs' conditions."""
        return tuple(tuple(map(test, conditions)) for conditions in self.sign_when)

    @functools.cached_property
    def sign_heads(self) -> tuple[tuple[Heads, ...], ...]:
        """The first words of the phrases in ``sign_says``."""
        return tuple(tuple(map(heads, groups)) for groups in self.sign_says)

    @functools.cached_property
    def specific(self) -> frozenset[int]:
        """Indexes of the conditions that are about more than the job as a whole."""
        return frozenset(index for index, tree in enumerate(self.when) if _is_specific(tree))

    @functools.cached_property
    def begins_with_walk(self) -> bool:
        """True if nothing is checked before the first name is bound: neither a condition nor the version."""
        return bool(self.each) and self.levels[0] == ((), ()) and not self.nccl.parts

    @functools.cached_property
    def narrowings(self) -> tuple[Narrowing | None, ...]:
        """For each name, what its elements need for all conditions to be true; None if all have to be asked.

        None as well where a version may make the rule inapplicable, which an element that is not asked cannot say.
        """
        if self.nccl.parts:
            return (None,) * len(self.each)
        return tuple(narrowing(self.when, bound.path, bound.name) for bound in self.each)

    @functools.cached_property
    def walks(self) -> tuple[Callable[[Frame], Found], ...]:
        """The functions that find the elements of each name."""
        return tuple(map(_walk, self.each))

    @functools.cached_property
    def slots(self) -> dict[str, tuple[Run | None, ...]]:
        """The functions of the placeholders of each text, None for the parts without one."""
        return {
            text: tuple(value(part.tree) if not isinstance(part, str) and part.tree else None for part in parts)
            for text, parts in self.templates.items()
        }


def completed(program: Program) -> Program:
    """The program with the data derived from its trees, to be called whenever these change."""
    needed = tuple(tree for clause in program.when for tree in conjuncts(clause))
    each = tuple(_confined(bound, needed) for bound in program.each)
    depths = {"job": 0} | {bound.name: depth for depth, bound in enumerate(each, 1)}

    def at(trees: Iterable[Tree]) -> list[tuple[int, ...]]:
        found = [max([0, *(depths[name] for name in names_read(tree))]) for tree in trees]
        return [tuple(i for i, depth in enumerate(found) if depth == level) for level in range(len(each) + 1)]

    return msgspec.structs.replace(
        program, each=each, levels=tuple(zip(at(program.when), at(program.unless), strict=True))
    )


def _is_specific(tree: Tree) -> bool:
    return names_read(tree) != {"job"} or any(isinstance(part, Quantifier) and part.events for part in conjuncts(tree))


def _confined(bound: Bound, needed: tuple[Tree, ...]) -> Bound:
    events = event_names(needed, bound.name, confined) if bound.path == EVENTS else None
    return msgspec.structs.replace(bound, events=events)


def _walk(bound: Bound) -> Callable[[Frame], Found]:
    path, events = bound.path, bound.events
    if not path.many:
        read = single(path)

        def one(frame: Frame) -> Found:
            found: Any = read(frame)
            return Found([] if found is None or found is ABSENT else [found], open=found is None, missing=found is None)

        return shared(path, one, "one")
    if events is not None:
        return shared(path, lambda frame: Found(list(frame.context.events(events)), open=False), ("all", *events))
    return shared(path, fan_out(path))
