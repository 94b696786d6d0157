"""Conditions as trees: the output of `ncdiag.engine.clauses` and the input of `ncdiag.engine.closures`.

A tree has passed the type check and holds all data for evaluation, so that a compiled catalogue is loaded and run
without parsing or checking types again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Literal, Union

import msgspec

StepKind = Literal["field", "derived", "host", "key", "optional_key", "setting", "setting_field", "hole"]
"""Kinds of steps: ``field`` stored in the struct; ``derived`` computed by the view; ``host`` resolves a host's name;
``key`` of a table whose missing keys are unknown, ``optional_key`` of one whose missing keys are known absent;
``setting`` by variable name; ``setting_field`` of a Setting (text and number of a variable known unset are absent);
``hole`` of an event.
"""


class Step(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One step of a path; ``many``: its value is a collection, over which the path fans out."""

    kind: StepKind
    name: str
    many: bool = False


class Path(msgspec.Struct, frozen=True, array_like=True, gc=False, tag="path"):
    """``start.a.b``; ``many`` if one of the steps fans out."""

    start: str
    steps: tuple[Step, ...] = ()
    many: bool = False


EVENTS = Path("job", (Step("field", "events", many=True),), many=True)
"""The job's events: an iteration over them is restricted to those that can matter."""
SETTINGS = Path("job", (Step("field", "settings", many=True),), many=True)
"""The variables that are set."""


class Const(msgspec.Struct, frozen=True, array_like=True, gc=False, tag="const"):
    """A constant."""

    value: bool | int | float | str


class Items(msgspec.Struct, frozen=True, array_like=True, gc=False, tag="items"):
    """A list of constants."""

    values: tuple[bool | int | float | str, ...]


class Not(msgspec.Struct, frozen=True, array_like=True, gc=False, tag="not"):
    """``not item``."""

    item: Tree


class Junction(msgspec.Struct, frozen=True, array_like=True, gc=False, tag="junction"):
    """``and`` or ``or`` of two or more conditions."""

    word: Literal["and", "or"]
    items: tuple[Tree, ...]


class Compare(msgspec.Struct, frozen=True, array_like=True, gc=False, tag="compare"):
    """``COMPARISONS[how](left, right)`` of `ncdiag.engine.three_valued`, negated when ``inverted``."""

    how: str
    left: Tree
    right: Tree
    inverted: bool = False


class Quantifier(msgspec.Struct, frozen=True, array_like=True, gc=False, tag="quantifier"):
    """``word(item for name in path if condition)``.

    ``item`` None counts the elements themselves. ``events`` are the only event names for which an element can matter.
    ``closed``: it uses no outer name except the job, so one evaluation serves all instances.
    """

    word: Literal["any", "all", "none", "count", "distinct"]
    name: str
    path: Path
    item: Tree | None = None
    condition: Tree | None = None
    events: tuple[str, ...] | None = None
    closed: bool = False


Tree = Union[Path, Const, Items, Not, Junction, Compare, Quantifier]  # noqa: UP007  (msgspec evaluates it)


class Slot(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A placeholder of a text (`ncdiag.engine.templates`): a ``tree``, or the name after ``best.`` of a computed value.

    ``who``: the placeholder is a rank number or a host name; findings that differ only in these are merged.
    """

    tree: Tree | None = None
    best: str = ""
    who: str = ""


Template = tuple[str | Slot, ...]
"""A text split at its placeholders."""


def names_read(tree: Tree | None) -> frozenset[str]:
    """The outer names that a tree uses."""
    if isinstance(tree, Path):
        return frozenset({tree.start})
    if isinstance(tree, Not):
        return names_read(tree.item)
    if isinstance(tree, Junction):
        return frozenset[str]().union(*map(names_read, tree.items))
    if isinstance(tree, Compare):
        return names_read(tree.left) | names_read(tree.right)
    if isinstance(tree, Quantifier):
        inside = names_read(tree.item) | names_read(tree.condition)
        return names_read(tree.path) | (inside - {tree.name})
    return frozenset()


def conjuncts(tree: Tree | None) -> tuple[Tree, ...]:
    """The conditions that must all be true for ``tree`` to be true."""
    if tree is None:
        return ()
    if isinstance(tree, Junction) and tree.word == "and":
        return tuple(part for item in tree.items for part in conjuncts(item))
    return (tree,)


Confined = Callable[[str, str | None], Collection[str] | None]
"""The names of the only events that can have a field, or have this value in it; None if all can."""


def event_names(trees: tuple[Tree, ...], name: str, confined: Confined) -> tuple[str, ...] | None:
    """The event names to which a conjunction of conditions restricts ``name``; None if they do not restrict it."""
    for tree in trees:
        found = _event_names(tree, name, confined)
        if found is not None:
            return tuple(dict.fromkeys(found))
    return None


def _event_names(tree: Tree, name: str, confined: Confined) -> Collection[str] | None:
    """The event names for which one condition can be true."""
    if isinstance(tree, Compare) and not tree.inverted and (values := compared_texts(tree)) is not None:
        if tree.left == Path(name, (Step("field", "event"),)):
            return values
        if isinstance(tree.left, Path) and tree.left.start == name and derived_in(tree.left):
            found = [confined(tree.left.steps[0].name, value) for value in values]
            return None if None in found else sorted({event for names in found for event in names or ()})
    if isinstance(tree, Path) and tree.start == name and derived_in(tree):
        names = confined(tree.steps[0].name, None)
        return sorted(names) if names is not None else None
    if isinstance(tree, Junction) and tree.word == "or":
        found = [_event_names(item, name, confined) for item in tree.items]
        return None if None in found else [event for names in found for event in names or ()]
    return None


def compared_texts(tree: Compare) -> tuple[str, ...] | None:
    """The texts that the left side is compared with for equality; None for other comparisons."""
    values: tuple[object, ...] = ()
    if tree.how == "equal" and isinstance(tree.right, Const):
        values = (tree.right.value,)
    elif tree.how == "listed" and isinstance(tree.right, Items):
        values = tree.right.values
    texts = tuple(value for value in values if isinstance(value, str))
    return texts if texts and len(texts) == len(values) else None


def derived_in(path: Path) -> bool:
    """True if the path is one derived field."""
    return [step.kind for step in path.steps] == ["derived"]
