# ruff: noqa: INP001, T201  (a script beside the package that prints)
"""Compare the table of variables (ncdiag/nccl/env.toml) with NCCL's source, release by release.

Usage: python tools/variables.py CLONE     or     make variables NCCL=CLONE

CLONE is a clone of https://github.com/NVIDIA/nccl with its tags (bare or not). Printed are variables that are not in
the table, releases that contradict the table, and differing compiled-in defaults; the script ends with 1 if there are
any. A default that is negative or a name of the source means "compute it": there the table must have the resulting
value (``unset``), or the number itself. Only numeric defaults are compared.
"""

from __future__ import annotations

import argparse
import ast
import functools
import operator
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import NamedTuple

from ncdiag.facts.scalars import Version
from ncdiag.nccl import book

Tree = dict[str, str | int | None]
"""Variables of a source with their default: a number, an expression, or None if it is read as text."""

_COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_PARAM = re.compile(r'^[ \t]*NCCL_PARAM\s*\(\s*\w+\s*,\s*"(\w+)"\s*,\s*(.+?)\)\s*;?[ \t]*$', re.MULTILINE)
_TYPED = re.compile(r"^[ \t]*DEFINE_NCCL_PARAM\s*\(\s*\w+\s*,[^,]+,\s*(NCCL_\w+)\s*,", re.MULTILINE)
_READ = re.compile(r"\b\w*(?:[gG]et[eE]nv|GetLevel|GetUserP2pLevel)\w*\s*\(([^()]*)\)")
_LITERAL = re.compile(r'"(NCCL_[A-Z0-9_]+)"')
_DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+(\S[^\n]*)", re.MULTILINE)
_NAMES = re.compile(r"\b[A-Za-z_]\w*")
_TAG = re.compile(r"v2\.\d+\.\d+-\d+")
_DEPTH = 5
_OPERATORS = {ast.Mult: operator.mul, ast.LShift: operator.lshift, ast.Add: operator.add, ast.Sub: operator.sub}


class Source(NamedTuple):
    """The content of a file: expressions of defaults by variable, variables that are read as text, macros."""

    defaults: dict[str, str]
    texts: frozenset[str]
    macros: dict[str, str]


def read(text: str) -> Source:
    """The variables and macros of a C++ source, without comments."""
    plain = _COMMENT.sub(lambda found: found[0] if found[0].startswith('"') else " ", text)
    defaults = {f"NCCL_{name}": value for name, value in _PARAM.findall(plain)}
    read_as_text = [name for arguments in _READ.findall(plain) for name in _LITERAL.findall(arguments)]
    return Source(defaults, frozenset([*read_as_text, *_TYPED.findall(plain)]), _macros(plain))


def _macros(plain: str) -> dict[str, str]:
    """The macros of a source; one with several definitions depends on the build of NCCL and is left out."""
    found: dict[str, set[str]] = {}
    for name, text in _DEFINE.findall(plain):
        found.setdefault(name, set()).add(text.strip())
    return {name: texts.pop() for name, texts in found.items() if len(texts) == 1}


def number(expression: str, macros: dict[str, str], depth: int = 0) -> int | None:
    """The value of an expression, with macros replaced; None if it is not a number."""
    plain = re.sub(r"\b(0x[0-9a-fA-F]+|\d+)[uUlL]*\b", r"\1", expression)
    if depth < _DEPTH and (name := _NAMES.fullmatch(plain.strip("( )"))) and name[0] in macros:
        return number(macros[name[0]], macros, depth + 1)
    try:
        return _evaluate(ast.parse(plain.strip(), mode="eval").body)
    except (SyntaxError, KeyError, ValueError):
        return None


def _evaluate(node: ast.expr) -> int:
    match node:
        case ast.Constant(value=int(value)):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_evaluate(operand)
        case ast.BinOp(left=left, op=sign, right=right):
            return int(_OPERATORS[type(sign)](_evaluate(left), _evaluate(right)))
    raise ValueError(ast.dump(node))


def variables(sources: list[Source]) -> Tree:
    """The variables of all files of a release."""
    macros = {name: text for source in sources for name, text in source.macros.items()}
    found: Tree = dict.fromkeys((name for source in sources for name in source.texts), None)
    for source in sources:
        for name, text in source.defaults.items():
            value = number(text, macros)
            found[name] = text if value is None else value
    return found


def disagreements(release: Version, found: Tree, table: book.Table) -> Iterator[str]:
    """Contradictions between a release and the table, one sentence each."""
    for name, known in table.variables.items():
        if known.owner == book.OURS and known.exists_at(release) != (name in found):
            yield f"{name}: {'read' if name in found else 'not read'} by {release}, against the table"
    for name, default in found.items():
        known_one = table.variables.get(name)
        if known_one is None:
            yield f"{name}: not in the table; default {default}"
        elif default is not None and known_one.type in {"string", "list"}:
            yield f"{name}: a number in {release}, {known_one.type} in the table"
        elif default is not None and known_one.type in book.NUMBERS:
            told = known_one.default_at(release)
            chosen = isinstance(default, str) or default < 0
            if told != default and not (chosen and (known_one.unset or told is not None)):
                yield f"{name}: default {default} in {release}, {told} in the table"


def releases(clone: str) -> list[tuple[Version, str]]:
    """The releases of a clone since 2.3 with their tags, oldest first; only the last build of each."""
    tags = [tag for tag in _git(clone, "tag", "--sort=version:refname").split() if _TAG.fullmatch(tag)]
    return sorted({version: tag for tag in tags if (version := Version.parse(tag))}.items())


def tree(clone: str, tag: str) -> Tree:
    """The variables of a release."""
    listed = [line.split("\t") for line in _git(clone, "ls-tree", "-r", tag, "src").splitlines()]
    blobs = [fields.split()[2] for fields, path in listed if re.search(r"\.(?:cc|cpp|cu|h|cuh)$", path)]
    return variables([_source(clone, blob) for blob in blobs])


@functools.cache
def _source(clone: str, blob: str) -> Source:
    return read(_git(clone, "cat-file", "blob", blob))


def _git(clone: str, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", clone, *arguments], capture_output=True, check=False)  # noqa: S603, S607
    if done.returncode:
        sys.exit(f"git: {done.stderr.decode('utf-8', 'replace').strip()}")
    return done.stdout.decode("utf-8", "replace")


def main() -> int:
    """Print each contradiction once, with the first release for which it is true."""
    parser = argparse.ArgumentParser(description="Compare the table of variables with NCCL's source.")
    parser.add_argument("clone", help="a clone of NVIDIA/nccl with its tags")
    clone = parser.parse_args().clone
    table, told = book.build(), dict[str, str]()
    tags = releases(clone)
    for release, tag in tags:
        for line in disagreements(release, tree(clone, tag), table):
            told.setdefault(line.replace(str(release), "..."), line)
    print("\n".join([*told.values(), f"{len(tags)} releases, disagreements: {len(told)}"]))
    return 1 if told or not tags else 0


if __name__ == "__main__":
    sys.exit(main())
