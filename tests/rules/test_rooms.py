"""What only one area of rules asks for is in the room of that area; what two ask for is in the vocabulary."""

from __future__ import annotations

import ast
import functools
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from asked_for import derived_steps

from ncdiag import catalogue, knowledge
from ncdiag.engine.compiling import program_of

ROOT = Path(knowledge.__file__).resolve().parents[2]
ELSEWHERE = "code beside the rules"
Name = tuple[str, str]
"""A module and what it defines."""


def modules(*folders: str, naming: Sequence[str] = ("",)) -> dict[str, ast.Module]:
    """The modules of the folders, by name; only those with one of these words in their text."""
    found = (path for folder in folders for path in sorted((ROOT / folder).rglob("*.py")))
    texts = {".".join(path.relative_to(ROOT).with_suffix("").parts): path.read_text(encoding="utf-8") for path in found}
    return {name: ast.parse(text) for name, text in texts.items() if any(word in text for word in naming)}


def imported(tree: ast.AST) -> dict[str, Name]:
    """What the names that a module imports stand for."""
    return {
        alias.asname or alias.name: (node.module or "", alias.name)
        for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names
    }  # fmt: skip


def definitions(tree: ast.Module) -> Iterator[tuple[str, ast.stmt]]:
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name, node
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from ((t.id, node) for target in targets for t in ast.walk(target) if isinstance(t, ast.Name))


@functools.cache
def rooms() -> dict[str, ast.Module]:
    """The modules of the knowledge."""
    return modules(*(package.replace(".", "/") for package in knowledge.PACKAGES))


@functools.cache
def defined() -> dict[Name, ast.stmt]:
    return {(module, name): node for module, tree in rooms().items() for name, node in definitions(tree)}


def uses() -> dict[Name, set[Name]]:
    """What each definition of the rooms uses of them."""
    found: dict[Name, set[Name]] = {}
    for (module, name), node in defined().items():
        known = imported(rooms()[module])
        inside = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
        found[module, name] = {known.get(word, (module, word)) for word in inside - {name}} & defined().keys()
    return found


def areas() -> dict[Name, set[str]]:
    """Whose rules ask for each definition, themselves or by way of another one."""
    homes = {(owner, name): found.function.__module__ for (owner, name), found in knowledge.registry().items()}
    found: dict[Name, set[str]] = defaultdict(set)
    for rule in catalogue.rules():
        for asked in set(derived_steps(program_of(rule))):
            for module in {home for (_, name), home in homes.items() if name == asked}:
                found[module, asked].add(rule.area)
    for module, tree in modules("ncdiag", naming=knowledge.PACKAGES).items():
        if module not in rooms():
            for name in set(imported(tree).values()) & defined().keys():
                found[name].add(ELSEWHERE)
    used = uses()
    ahead = list(found)
    while ahead:
        user = ahead.pop()
        for name in used.get(user, ()):
            if not found[user] <= found[name]:
                found[name] |= found[user]
                ahead.append(name)
    return found


def room(module: str) -> str | None:
    """The area that a module of the knowledge belongs to; None for the vocabulary."""
    parts = module.split(".")
    return parts[2] if parts[1] == "knowledge" and len(parts) > 2 else None


@pytest.mark.long
def test_every_derived_fact_is_in_its_room() -> None:
    asked = areas()
    wrong = []
    for found in knowledge.registry().values():
        module, name = found.function.__module__, found.function.__name__
        by = asked.get((module, name), set())
        wanted = next(iter(by)) if len(by) == 1 and ELSEWHERE not in by else None
        if by and room(module) != wanted:
            place = f"ncdiag/knowledge/{wanted}" if wanted else "a vocabulary (facts, nccl or messages)"
            wrong.append(f"{name} of {module} is asked for by {', '.join(sorted(by))}: move it to {place}")
    assert wrong == []


def test_rooms_are_areas_of_rules() -> None:
    assert {room(module) for module in rooms()} - {None, "__init__"} <= {rule.area for rule in catalogue.rules()}
