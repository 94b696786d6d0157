"""The meanings of derived fields in a rule's conditions, such as ``e.is_firewalled``, from their docstrings."""

from __future__ import annotations

import typing
from collections.abc import Iterator, Mapping
from typing import Any

from ncdiag.apps.explaining import facts
from ncdiag.base.patterns import lazy_regex
from ncdiag.engine.compiling import program_of
from ncdiag.engine.schema import Rule
from ncdiag.engine.tree import Compare, Items, Junction, Not, Path, Quantifier, Tree
from ncdiag.knowledge import registry

_LIST = lazy_regex(r"\bin\s+(?:words\.(\w+)|[\[(])")
"""The lists of a condition; the group is the name of one that has a name."""
_SENTENCE = lazy_regex(r".*?[.?](?=\s|$)")
_OF_KIND = {"host": "Host", "setting": "Setting"}
"""Steps of a path whose result type is fixed."""


def meanings(rule: Rule) -> dict[str, tuple[str, ...]]:
    """By condition (of ``when`` and ``unless``, as written): ``name: meaning`` of each derived field in it."""
    program = program_of(rule)
    owners = {"job": "Job"}
    for bound in program.each:
        owners[bound.name] = _end(bound.path, owners)
    texts = [*zip(rule.when, program.when, strict=True), *zip(rule.unless, program.unless, strict=True)]
    return {text: tuple(dict.fromkeys([*_said(tree, owners), *_lists(text, tree)])) for text, tree in texts}


def _lists(text: str, tree: Tree) -> Iterator[str]:
    """``words.misuse: ...`` for each named list of a condition, in the order of the text."""
    for found, items in zip(_LIST.findall(text), _items(tree), strict=False):
        if found:
            yield f"words.{found}: {', '.join(map(str, items.values))}"


def _items(tree: Tree | None) -> Iterator[Items]:
    if isinstance(tree, Items):
        yield tree
    elif isinstance(tree, Not):
        yield from _items(tree.item)
    elif isinstance(tree, Junction):
        yield from (found for item in tree.items for found in _items(item))
    elif isinstance(tree, Compare):
        yield from (found for item in (tree.left, tree.right) for found in _items(item))
    elif isinstance(tree, Quantifier):
        yield from (found for item in (tree.item, tree.condition) for found in _items(item))


def _said(tree: Tree | None, owners: Mapping[str, str]) -> Iterator[str]:
    if isinstance(tree, Path):
        yield from _of_path(tree, owners)
    elif isinstance(tree, Not):
        yield from _said(tree.item, owners)
    elif isinstance(tree, Junction):
        for item in tree.items:
            yield from _said(item, owners)
    elif isinstance(tree, Compare):
        yield from _said(tree.left, owners)
        yield from _said(tree.right, owners)
    elif isinstance(tree, Quantifier):
        yield from _of_path(tree.path, owners)
        inside = {**owners, tree.name: _end(tree.path, owners)}
        yield from _said(tree.condition, inside)
        yield from _said(tree.item, inside)


def _of_path(path: Path, owners: Mapping[str, str]) -> Iterator[str]:
    owner = owners.get(path.start, "")
    for step in path.steps:
        if step.kind == "derived" and (found := facts.field(f"{owner}.{step.name}")) is not None:
            yield f"{found.name}: {_first(found.meaning)}"
        owner = _OF_KIND.get(step.kind) or _type_of(owner, step.name)


def _end(path: Path, owners: Mapping[str, str]) -> str:
    """The type of the value of a path; empty if it is not a fact."""
    owner = owners.get(path.start, "")
    for step in path.steps:
        owner = _OF_KIND.get(step.kind) or _type_of(owner, step.name)
    return owner


def _type_of(owner: str, name: str) -> str:
    """The fact or record in a field, or in its collection."""
    kind = facts.fact_types().get(owner)
    if kind is None:
        return ""
    if name in kind.__struct_fields__:
        return _inner(typing.get_type_hints(kind).get(name))
    found = registry().get((owner, name))
    return _inner(found.returns) if found is not None else ""


def _inner(kind: Any) -> str:  # noqa: ANN401  (a type of any form)
    name = getattr(kind, "__name__", "")
    if name in facts.fact_types():
        return str(name)
    return next(filter(None, map(_inner, typing.get_args(kind))), "")


def _first(text: str) -> str:
    """The first sentence; the rest says when and why the field is unknown."""
    found = _SENTENCE.match(text)
    return found[0] if found else text
