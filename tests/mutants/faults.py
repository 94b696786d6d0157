"""Small faults planted in modules of the package: an operator turned, a branch dropped, a constant changed."""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

KINDS = ("operator", "branch", "constant")
_TURNED: dict[type[ast.AST], tuple[str, str]] = {
    ast.Lt: (r"<", "<="), ast.LtE: (r"<=", "<"), ast.Gt: (r">", ">="), ast.GtE: (r">=", ">"),
    ast.Eq: (r"==", "!="), ast.NotEq: (r"!=", "=="), ast.In: (r"\bin\b", "not in"),
    ast.NotIn: (r"\bnot\s+in\b", "in"), ast.Is: (r"\bis\b", "is not"), ast.IsNot: (r"\bis\s+not\b", "is"),
    ast.And: (r"\band\b", "or"), ast.Or: (r"\bor\b", "and"),
    ast.Add: (r"\+", "-"), ast.Sub: (r"-", "+"), ast.Mult: (r"\*", "//"), ast.FloorDiv: (r"//", "*"),
}  # fmt: skip
"""The text of an operator and what takes its place."""


class Fault(msgspec.Struct, frozen=True):
    """One fault: ``path`` is relative to the project, ``within`` names the function or class (empty at the top).

    ``before`` is the text that becomes ``after``. It is the ``nth`` such text of ``within``, from 0, so that the fault
    is found again in a tree where the lines have moved.
    """

    path: str
    within: str
    kind: str
    before: str
    after: str
    nth: int


class Planted(msgspec.Struct, frozen=True):
    """A module with its fault: the new text, and the first and last line of what was changed."""

    text: str
    first: int
    last: int


class _Edit(msgspec.Struct, frozen=True):
    """A change of the bytes ``start`` to ``end`` of a module; ``whole`` spans the expression around them."""

    kind: str
    within: str
    start: int
    end: int
    after: str
    whole: tuple[int, int]


def chosen(project: Path, seed: int, count: int) -> list[Fault]:
    """``count`` faults in as many modules: a module is the likelier to be chosen the more lines of code it has."""
    draw = random.Random(seed)
    weights = {path: weight for path in sorted((project / "ncdiag").rglob("*.py")) if (weight := _code_lines(path))}
    ordered = sorted(weights, key=lambda path: draw.random() ** (1 / weights[path]), reverse=True)
    found: list[Fault] = []
    for path in ordered:
        if len(found) == count:
            break
        faults = faults_of(path.read_text(encoding="utf-8"), path.relative_to(project).as_posix())
        kinds = sorted({fault.kind for fault in faults})
        if kinds:
            kind = draw.choice(kinds)
            found.append(draw.choice([fault for fault in faults if fault.kind == kind]))
    return found


def faults_of(text: str, path: str) -> list[Fault]:
    """Every fault that can be planted in a module, in the order of the text."""
    source, seen, found = text.encode(), dict[tuple[str, str, str], int](), list[Fault]()
    for edit in _edits(text):
        before, after = _change(source, edit)
        nth = seen[edit.within, before, after] = seen.get((edit.within, before, after), -1) + 1
        found.append(Fault(path, edit.within, edit.kind, before, after, nth))
    return found


def planted(text: str, fault: Fault) -> Planted | None:
    """The text of a module with the fault; None if the module has no such place."""
    source = text.encode()
    same = (fault.within, fault.before, fault.after)
    edits = [edit for edit in _edits(text) if (edit.within, *_change(source, edit)) == same]
    if fault.nth >= len(edits):
        return None
    edit = edits[fault.nth]
    first, last = (source[:place].count(b"\n") + 1 for place in edit.whole)
    return Planted((source[: edit.start] + edit.after.encode() + source[edit.end :]).decode(), first, last)


def located(project: Path, fault: Fault) -> tuple[Path, Planted] | None:
    """The module that has the place of the fault, with the fault: that of the path, or one of its name elsewhere."""
    path = project / fault.path
    others = sorted((project / "ncdiag").rglob(path.name))
    for candidate in [path, *(other for other in others if other != path)]:
        made = planted(candidate.read_text(encoding="utf-8"), fault) if candidate.is_file() else None
        if made is not None:
            return candidate, made
    return None


def _change(source: bytes, edit: _Edit) -> tuple[str, str]:
    """The expression before and after."""
    begin, end = edit.whole
    after = source[begin : edit.start] + edit.after.encode() + source[edit.end : end]
    return source[begin:end].decode(), after.decode()


def _code_lines(path: Path) -> int:
    """The lines on which a statement begins."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return len({node.lineno for node in ast.walk(tree) if isinstance(node, ast.stmt) and not _is_docstring(node)})


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _edits(text: str) -> list[_Edit]:
    """All changes of a module that leave it a program, in the order of the text."""
    lines = [0]
    for line in text.encode().split(b"\n"):
        lines.append(lines[-1] + len(line) + 1)

    def span(node: ast.expr) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return lines[node.lineno - 1] + node.col_offset, lines[node.end_lineno - 1] + node.end_col_offset

    found: list[_Edit] = []
    for node, within in _expressions(ast.parse(text), ""):
        for kind, start, end, after in _of_node(node, text.encode(), span):
            found.append(_Edit(kind, within, start, end, after, span(_around(node))))
    return sorted(found, key=lambda edit: (edit.start, edit.end))


def _around(node: ast.AST) -> ast.expr:
    return node.test if isinstance(node, ast.If) else node  # type: ignore[return-value]


def _expressions(node: ast.AST, within: str) -> Iterator[tuple[ast.AST, str]]:
    """The parts of a program that can be changed, with the function or class that they are in.

    Annotations, docstrings, parts of f-strings, what only a checker of types reads and options of a class or a cache
    are left out.
    """
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        within = f"{within}.{node.name}".lstrip(".")
    yield node, within
    left_out = {id(part) for part in _left_out(node)}
    for child in ast.iter_child_nodes(node):
        if id(child) not in left_out and not _is_docstring(child):
            yield from _expressions(child, within)


def _left_out(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        yield from [node.returns] if node.returns else []
    elif isinstance(node, (ast.arg, ast.AnnAssign)):
        yield from [node.annotation] if node.annotation else []
    elif isinstance(node, (ast.ClassDef, ast.Call)):
        yield from (word for word in node.keywords if word.arg in {"frozen", "kw_only", "maxsize"})
    elif isinstance(node, ast.JoinedStr) or (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)):
        yield from ast.iter_child_nodes(node)


def _of_node(
    node: ast.AST, source: bytes, span: Callable[[ast.expr], tuple[int, int]]
) -> Iterator[tuple[str, int, int, str]]:
    """What can be changed at one place: kind, start, end, and the new text."""
    if isinstance(node, ast.If):
        start, end = span(node.test)
        yield "branch", start, end, "False"
    elif isinstance(node, ast.Constant):
        if isinstance(node.value, bool):
            yield "constant", *span(node), str(not node.value)
        elif isinstance(node.value, (int, float)):
            yield "constant", *span(node), repr(node.value + 1)
    else:
        for left, operator, right in _operators(node):
            if type(operator) in _TURNED:
                pattern, after = _TURNED[type(operator)]
                start, end = span(left)[1], span(right)[0]
                token = re.search(pattern, source[start:end].decode())
                if token:
                    yield "operator", start + token.start(), start + token.end(), after


def _operators(node: ast.AST) -> Iterator[tuple[ast.expr, ast.AST, ast.expr]]:
    """The operators of an expression, each with the expressions on both sides."""
    if isinstance(node, ast.Compare):
        yield from zip([node.left, *node.comparators], node.ops, node.comparators, strict=False)
    elif isinstance(node, ast.BoolOp):
        yield from ((left, node.op, right) for left, right in zip(node.values, node.values[1:], strict=False))
    elif isinstance(node, ast.BinOp):
        yield node.left, node.op, node.right
