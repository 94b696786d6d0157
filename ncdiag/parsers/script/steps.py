"""Steps of a training loop that a rank leaves out by what its own data are."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from ncdiag.base.patterns import lazy_regex
from ncdiag.parsers.script.names import Names, last

_BY_DATA = lazy_regex(r"isnan|isinf|isfinite|is_nan|numel|len|any|all")
_SHARES = frozenset(
    {"all_reduce", "allreduce", "broadcast", "all_gather", "reduce", "all_gather_object", "gather_for_metrics"}
)


def skipped(body: Sequence[ast.stmt], names: Names) -> Iterator[ast.Call]:
    """The backward passes that a ``continue`` of this rank alone leaves out, or that fail on it alone."""
    for statement in body:
        for loop in ast.walk(statement):
            if isinstance(loop, ast.For) and not _agrees(loop):
                back = next(
                    (each for each in ast.walk(loop) if isinstance(each, ast.Call) and last(each.func) == "backward"),
                    None,
                )
                if back is not None and any(_leaves(each, back, names) for each in ast.walk(loop)):
                    yield back


def _agrees(loop: ast.For) -> bool:
    """Do the ranks tell each other something in the loop, which may be whether to go on?"""
    return any(isinstance(each, ast.Call) and last(each.func) in _SHARES for each in ast.walk(loop))


def _leaves(node: ast.AST, back: ast.Call, names: Names) -> bool:
    if isinstance(node, ast.Try):
        tried = any(each is back for part in node.body for each in ast.walk(part))
        return tried and any(isinstance(handler.body[-1], (ast.Continue, ast.Pass)) for handler in node.handlers)
    if not (isinstance(node, ast.If) and node.lineno < back.lineno and isinstance(node.body[-1], ast.Continue)):
        return False
    asked = [each for each in ast.walk(node.test) if isinstance(each, ast.Call)]
    return any(_BY_DATA.fullmatch(last(each.func)) for each in asked) and names.side(node.test) is None
