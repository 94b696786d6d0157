"""Texts with ``{expression}`` placeholders: titles, explanations and fixes.

Between the braces is an expression of the condition language over the names that the rule binds, or ``best.NAME``, a
value that `ncdiag.fixes` computes. A literal brace is doubled. Unknown values are printed as unknown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ncdiag.base.errors import DefinitionError, suggestion
from ncdiag.base.patterns import lazy_regex
from ncdiag.engine import clauses
from ncdiag.engine.kinds import Entity, Kind, Many, Scalar
from ncdiag.engine.scope import Scope
from ncdiag.engine.three_valued import ABSENT
from ncdiag.engine.tree import Path, Slot, Step, Template, Tree
from ncdiag.facts.fold import fold_hosts, fold_ranks
from ncdiag.language import phrase, say

_PIECE = lazy_regex(r"\{\{|\}\}|\{([^{}]*)\}|[^{}]+|[{}]")

Values = Callable[[str, Mapping[str, Any]], Any]
"""Computes ``best.NAME`` for the bound names: an object whose ``str`` is the value, or None if it has none."""


def pieces(text: str) -> list[tuple[str, str]]:
    """The parts of a text in order, each (expression, "") for a placeholder or ("", literal text)."""
    return [
        ("", {"{{": "{", "}}": "}"}.get(found[0], found[0])) if found[1] is None else (found[1].strip(), "")
        for found in _PIECE.finditer(text)
    ]


def compile_template(text: str, scope: Scope) -> Template:
    """Split and check a text; raises DefinitionError for an unbalanced brace or an invalid path."""
    parts: list[str | Slot] = []
    for found in _PIECE.finditer(text):
        if found[1] is not None:
            try:
                parts.append(_slot(found[1].strip(), scope))
            except DefinitionError as error:
                raise _within(text, found, error) from None
        elif found[0] in ("{", "}"):
            reason = f"a {found[0]!r} has no partner"
            raise DefinitionError(reason, text=text, column=found.start(), hint="a literal brace is written twice")
        else:
            parts.append({"{{": "{", "}}": "}"}.get(found[0], found[0]))
    return tuple(parts)


def _within(text: str, hole: re.Match[str], error: DefinitionError) -> DefinitionError:
    """The same error, located in the line of the text that contains the placeholder."""
    start = text.rfind("\n", 0, hole.start()) + 1
    column = hole.start(1) + len(hole[1]) - len(hole[1].lstrip()) + error.column - start
    return DefinitionError(error.reason, text=text[start:].partition("\n")[0], column=column, hint=error.hint)


def _slot(text: str, scope: Scope) -> Slot:
    if text.startswith("best."):
        name = text.removeprefix("best.")
        if scope.names.values and name not in scope.names.values:
            reason = f"no value is called {name!r}"
            raise DefinitionError(reason, text=text, column=len("best."), hint=suggestion(name, scope.names.values))
        return Slot(best=name)
    tree, kind = clauses.expression(text, scope)
    inner = kind.item if isinstance(kind, Many) else kind
    if not isinstance(inner, Scalar):
        hint = "write one of its fields, such as .name" if isinstance(inner, Entity) else ""
        reason = f"a {inner} cannot be shown"
        raise DefinitionError(reason, text=text, hint=hint)
    return Slot(tree, who=_who(tree, kind, scope))


def _who(tree: Tree, kind: Kind, scope: Scope) -> str:
    """``rank`` or ``host`` if the placeholder only says where something was found."""
    if not isinstance(tree, Path) or tree.many or not isinstance(kind, Scalar):
        return ""
    last = tree.steps[-1] if tree.steps else None
    if kind.is_host:
        return "host"
    if last == Step("field", "rank"):
        return "rank"
    if last == Step("field", "name"):
        above, bound = tree.steps[:-1], scope.kinds.get(tree.start)
        is_host = above[-1].kind == "host" if above else isinstance(bound, Entity) and bound.cls.__name__ == "Host"
        return "host" if is_host else ""
    return ""


def show(value: Any) -> str:  # noqa: ANN401
    """A value in readable form: unknown, not set, yes, no, 400 for 400.0, collections joined by commas."""
    if value is None:
        return say("unknown")
    if isinstance(value, bool):
        return say("yes") if value else say("no")
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    items = getattr(value, "items", None)
    if isinstance(items, list):
        return ", ".join(dict.fromkeys(map(show, items))) or say(str(ABSENT) if not value.open else "unknown")
    return phrase(str(value))


def fold(kind: str, values: Iterable[Any]) -> str:
    """Several ranks or hosts in a placeholder: ``0-7,16`` or ``node[1-3]``."""
    found = list(values)
    known = [value for value in found if value is not None]
    if not known:
        return say("unknown")
    numbers = [value for value in known if isinstance(value, int)]
    return fold_ranks(numbers) if kind == "rank" and numbers else fold_hosts(map(str, known))
