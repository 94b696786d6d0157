"""Find the elements of a path that a condition on a stored text can be about, without asking the others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, NamedTuple

from ncdiag.engine.fields import variables_with
from ncdiag.engine.tree import SETTINGS, Compare, Junction, Path, Tree, compared_texts, conjuncts, derived_in

FEW = 16
"""Fewer elements are asked one by one: an index would cost more than it saves."""


class Narrowing(NamedTuple):
    """A stored field, and the only values of it for which a condition can be true."""

    field: str
    values: frozenset[str]


def narrowing(trees: Iterable[Tree | None], path: Path, name: str) -> Narrowing | None:
    """The first narrowing among conditions on the elements ``name`` of ``path``; None if there is none.

    An element whose field is known and has another value makes at least one of the conditions false. Elements of a path
    that does not begin at the job are never narrowed: they are others at each visit.
    """
    if path.start != "job":
        return None
    found = (_narrowing(part, path, name) for tree in trees for part in conjuncts(tree))
    return next((each for each in found if each is not None), None)


def _narrowing(tree: Tree, path: Path, name: str) -> Narrowing | None:
    if isinstance(tree, Compare) and not tree.inverted and isinstance(tree.left, Path) and tree.left.start == name:
        values, kinds = compared_texts(tree), [step.kind for step in tree.left.steps]
        return Narrowing(tree.left.steps[0].name, frozenset(values)) if values and kinds == ["field"] else None
    if isinstance(tree, Path) and tree.start == name and path == SETTINGS and derived_in(tree):
        variables = variables_with(tree.steps[0].name)
        return Narrowing("name", variables) if variables is not None else None
    if isinstance(tree, Junction) and tree.word == "or":
        found = [_narrowing(item, path, name) for item in tree.items]
        known = [each for each in found if each is not None]
        if len(known) == len(found) and len({each.field for each in known}) == 1:
            return Narrowing(known[0].field, frozenset().union(*(each.values for each in known)))
    return None


class Index:
    """Elements of a path by the value of a stored field."""

    def __init__(self, items: Sequence[Any], field: str) -> None:
        """Read the field of each element once; an element without a known value is among those of any value."""
        self.items = items
        self._places = defaultdict[Hashable, list[int]](list)
        for place, item in enumerate(items):
            self._places[getattr(item, field)].append(place)

    def of(self, values: Iterable[str]) -> list[Any]:
        """The elements with one of these values, or with an unknown one, in their order."""
        found = [self._places[value] for value in (*values, None) if value in self._places]
        places = found[0] if len(found) == 1 else sorted(place for each in found for place in each)
        return [self.items[place] for place in places]
