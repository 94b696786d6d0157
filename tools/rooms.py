# ruff: noqa: INP001, T201  (a script beside the package that prints)
"""Count the rooms of the package and the imports between them.

Usage: python tools/rooms.py [PACKAGE] [--write]

A room is a folder or a module directly in the package. An arrow leads from a room to each other room that one of its
modules imports, anywhere in its code. It leads upward if the other room is later in `ORDER`. A circle is a set of
modules that import each other, including imports inside functions. ``--write`` writes the graph to
docs/architecture.md.
"""

from __future__ import annotations

import argparse
import ast
import functools
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
PAGE = PROJECT / "docs" / "architecture.md"
ORDER = (
    "base", "agent", "language", "cells", "facts", "nccl", "messages", "knowledge", "formats", "parsers",
    "text", "machine", "engine", "suspects", "fixes", "checks", "catalogue", "report", "comparing", "diagnose",
    "__init__", "errors", "apps", "commands", "cli", "__main__",
)  # fmt: skip
"""The rooms from the bottom up: each may import those before it."""
FACES = ("text", "apps.cluster", "apps.explaining", "apps.lint", "apps.mcp", "apps.redact", "apps.watching", "apps.web")
"""Folders whose modules are private: others import the names in their ``__init__``."""
_MODULE = re.compile(r"ncdiag(?:\.\w+)+")
_BEGIN, _END = "<!-- made by tools/rooms.py --write -->", "<!-- end -->"


def modules(package: Path) -> dict[str, Path]:
    """The file of each module by its dotted name; a package has that of its folder."""
    return {_name(path, package): path for path in sorted(package.rglob("*.py"))}


def _name(path: Path, package: Path) -> str:
    return ".".join(path.relative_to(package.parent).with_suffix("").parts).removesuffix(".__init__")


def room(module: str, package: str = "ncdiag") -> str:
    """The room of a module: ``facts`` of ``ncdiag.facts.model.job``, ``__init__`` of the package itself."""
    return module.removeprefix(f"{package}.").partition(".")[0] if module != package else "__init__"


@functools.cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """All parts of the syntax of a module, in no particular order; a file is parsed once in a process."""
    return tuple(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def imported(path: Path, known: Mapping[str, Path]) -> Iterator[str]:
    """The modules among ``known`` that a file imports, at any depth, also those it names for importlib in a string."""
    for node in nodes(path):
        names: list[str] = []
        if isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and _MODULE.fullmatch(node.value):
            names = [node.value]
        for name in names:
            found = name if name in known or isinstance(node, ast.Constant) else name.rpartition(".")[0]
            if found in known:
                yield found


def graph(package: Path) -> dict[str, set[str]]:
    """By module, the modules that it imports."""
    known = modules(package)
    return {name: set(imported(path, known)) - {name} for name, path in known.items()}


def arrows(of: Mapping[str, set[str]]) -> Counter[tuple[str, str]]:
    """The number of imports from one room to another."""
    found: Counter[tuple[str, str]] = Counter()
    for name, targets in of.items():
        found.update((room(name), room(target)) for target in targets if room(target) != room(name))
    return found


def upward(found: Counter[tuple[str, str]]) -> list[tuple[str, str]]:
    """The arrows that lead to a room later in `ORDER`."""
    return [(here, there) for here, there in found if ORDER.index(there) > ORDER.index(here)]


def circles(of: Mapping[str, set[str]]) -> list[list[str]]:
    """Sets of modules each of which imports all others of its set, directly or indirectly (Tarjan's algorithm)."""
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []
    for start in of:
        if start in number:
            continue
        walk = [(start, iter(sorted(of[start])))]
        number[start] = low[start] = len(number)
        stack.append(start)
        while walk:
            name, rest = walk[-1]
            target = next(rest, None)
            if target is None:
                walk.pop()
                if walk:
                    low[walk[-1][0]] = min(low[walk[-1][0]], low[name])
                if low[name] == number[name]:
                    members = stack[stack.index(name) :]
                    del stack[stack.index(name) :]
                    if len(members) > 1:
                        found.append(sorted(members))
            elif target not in number:
                number[target] = low[target] = len(number)
                stack.append(target)
                walk.append((target, iter(sorted(of[target]))))
            elif target in stack:
                low[name] = min(low[name], number[target])
    return found


def lines(package: Path) -> list[str]:
    """The counts, then one line per room from the top down: what it imports, and how often."""
    of = graph(package)
    found = arrows(of)
    rooms = {room(name) for name in of}
    unknown = sorted(rooms - set(ORDER))
    if unknown:
        return [f"{len(rooms)} rooms, {len(found)} arrows; not in ORDER of tools/rooms.py: {', '.join(unknown)}"]
    told = [f"{len(rooms)} rooms, {len(found)} arrows, {len(upward(found))} upward, {len(circles(of))} circles"]
    for here in sorted(rooms, key=ORDER.index, reverse=True):
        targets = sorted((there for start, there in found if start == here), key=ORDER.index, reverse=True)
        told.append(f"{here:10} -> {' '.join(targets) or '(nothing)'}")
    told += [f"upward: {here} -> {there}" for here, there in upward(found)]
    return [*told, *(f"circle: {' '.join(members)}" for members in circles(of))]


def page(text: str, shown: list[str]) -> str:
    """The page with the graph between its marks."""
    before, _, rest = text.partition(_BEGIN)
    return "\n".join([before + _BEGIN, "```text", *shown, "```", _END + rest.partition(_END)[2]])


def main() -> None:
    """Print the counts and the graph."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("package", nargs="?", type=Path, default=PROJECT / "ncdiag")
    parser.add_argument("--write", action="store_true", help="put the graph into docs/architecture.md")
    args = parser.parse_args()
    shown = lines(args.package)
    print(*shown, sep="\n")
    if args.write:
        PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), shown), encoding="utf-8")


if __name__ == "__main__":
    main()
