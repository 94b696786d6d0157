"""Parse the condition language: from text to type-checked trees (`ncdiag.engine.tree`). Its grammar is frozen.

A subset of Python's expressions, parsed with `ast` and never executed::

    names and paths     rank.host.gpus   (paths fan out over collections)
    constants, lists    "veth"  3  2.5  True  ["veth", "bridge"]
    comparisons         == != < <= > >= in, not in
                        version < "2.12"   version in ">=2.4,<2.21"   ip in "10.0.0.0/8"
    and, or, not
    any|all|none|count|distinct(expr for x in path if condition)

``"text" in path`` searches a part of a text, an element of a collection or a key of a table, as in Python. There are no
other calls, no arithmetic, no subscripts, no patterns. Errors raise DefinitionError with a caret and a help sentence.
"""

from __future__ import annotations

import ast
import ipaddress

from ncdiag.base.errors import DefinitionError, suggestion
from ncdiag.engine.confine import confined
from ncdiag.engine.kinds import BOOL, FLOAT, INT, STR, Entity, Kind, Many, Scalar, Table
from ncdiag.engine.scope import PathError, Scope
from ncdiag.engine.tree import (
    EVENTS,
    Compare,
    Const,
    Items,
    Junction,
    Not,
    Path,
    Quantifier,
    Step,
    Tree,
    conjuncts,
    event_names,
    names_read,
)
from ncdiag.facts.model import Host
from ncdiag.facts.scalars import Constraint, VersionRange

QUANTIFIERS = ("any", "all", "none", "count", "distinct")
WORDS = "words"
"""The name under which conditions use the named lists of their area: ``in words.NAME``."""
RESERVED = frozenset({*QUANTIFIERS, "job", "best", WORDS})
"""Names that cannot be bound."""

QUADRATIC = "this collection is already iterated, so the rule would take quadratic time"
"""Why nested iteration over the same collection is rejected."""

_MAX_LENGTH, _MAX_DEPTH = 2000, 60
_NUMBERS = INT.names | FLOAT.names
_ORDER: dict[type[ast.cmpop], tuple[str, bool]] = {
    ast.Lt: ("less", False), ast.LtE: ("at_most", False), ast.Gt: ("less", True), ast.GtE: ("at_most", True),
}  # fmt: skip
_HELP = "a condition has names, paths, constants, lists, comparisons, and/or/not and " + "/".join(QUANTIFIERS)


def condition(text: str, scope: Scope) -> Tree:
    """Parse a clause of ``when`` or ``unless``, whose value is true, false or unknown."""
    checker = _Checker(text, scope)
    return checker.truth(checker.parse(), scope)


def expression(text: str, scope: Scope) -> tuple[Tree, Kind]:
    """Parse any expression of the language, for example in a title; returns its tree and kind."""
    checker = _Checker(text, scope)
    return checker.expression(checker.parse(), scope)


def path(text: str, scope: Scope) -> tuple[Path, Kind]:
    """Parse a path of ``each``; returns it with the kind of the bound name. A host's name is resolved to the host."""
    checker = _Checker(text, scope)
    node = checker.parse()
    found, kind = checker.path(node, scope)
    if isinstance(kind, Many | Table):
        found, kind = checker.elements(node, found, kind)
    if isinstance(kind, Scalar) and kind.is_host:
        found, kind = Path(found.start, (*found.steps, Step("host", "host of")), found.many), Entity(Host)
    if isinstance(kind, Scalar) and not found.many:
        raise checker.fault(node, f"{kind} is not a collection", "each binds names to facts and to collections")
    return found, kind


class _Checker:
    """Checks one text; every method takes a node and the scope in which it is evaluated."""

    def __init__(self, text: str, scope: Scope) -> None:
        self.text = " ".join(text.split("\n")).strip()
        self.scope = scope
        self.depth = 0

    def parse(self) -> ast.expr:
        if len(self.text) > _MAX_LENGTH:
            reason = f"the condition is longer than {_MAX_LENGTH} characters"
            raise DefinitionError(reason)
        try:
            return ast.parse(self.text, mode="eval").body
        except SyntaxError as error:
            column = max(0, min((error.offset or 1) - 1, len(self.text)))
            reason = f"this is not a condition: {error.msg}"
            raise DefinitionError(reason, text=self.text, column=column, hint=_HELP) from None
        except (ValueError, RecursionError, MemoryError):
            reason = "this cannot be read as a condition"
            raise DefinitionError(reason, text=self.text[:80]) from None

    def fault(self, node: ast.expr, reason: str, hint: str = "") -> DefinitionError:
        before = self.text.encode()[: node.col_offset].decode(errors="replace")
        return DefinitionError(reason, text=self.text, column=len(before), hint=hint)

    def truth(self, node: ast.expr, scope: Scope) -> Tree:
        tree, kind = self.expression(node, scope)
        if kind != BOOL or isinstance(tree, Const):
            what = "a constant" if isinstance(tree, Const) else kind
            raise self.fault(node, f"this is not a condition but {what}", "compare it with a value")
        return tree

    def expression(self, node: ast.expr, scope: Scope) -> tuple[Tree, Kind]:
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise self.fault(node, "the condition is nested too deeply")
        try:
            return self._expression(node, scope)
        finally:
            self.depth -= 1

    def _expression(self, node: ast.expr, scope: Scope) -> tuple[Tree, Kind]:
        if isinstance(node, ast.Name | ast.Attribute):
            return self.path(node, scope)
        if isinstance(node, ast.Compare):
            return self._comparisons(node, scope), BOOL
        if isinstance(node, ast.BoolOp):
            items = tuple(self.truth(value, scope) for value in node.values)
            return Junction("and" if isinstance(node.op, ast.And) else "or", items), BOOL
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return Not(self.truth(node.operand, scope)), BOOL
        if isinstance(node, ast.Call):
            return self._quantifier(node, scope)
        constant = self._constant(node)
        if constant is not None:
            return constant
        if isinstance(node, ast.List | ast.Tuple):
            raise self.fault(node, "a list is allowed only after 'in'")
        raise self.fault(node, f"{type(node).__name__} is not part of the condition language", _HELP)

    def _constant(self, node: ast.expr) -> tuple[Const, Scalar] | None:
        sign = 1
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            node, sign = node.operand, -1
        if not isinstance(node, ast.Constant):
            return None
        value = node.value
        if isinstance(value, bool) and sign > 0:
            return Const(value), BOOL
        if isinstance(value, str) and sign > 0:
            return Const(value), STR
        if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1 << 63:
            return Const(sign * value), INT if isinstance(value, int) else FLOAT
        if value is None:
            hint = "an unknown value makes the condition unknown by itself"
            raise self.fault(node, "nothing can be compared with None", hint)
        return None

    def path(self, node: ast.expr, scope: Scope) -> tuple[Path, Kind]:
        nodes, parts = [node], []
        while isinstance(nodes[-1], ast.Attribute):
            parts.append(nodes[-1].attr)
            nodes.append(nodes[-1].value)
        if not isinstance(nodes[-1], ast.Name):
            raise self.fault(nodes[-1], "a path starts with a name", _HELP)
        parts.append(nodes[-1].id)
        parts.reverse()
        nodes.reverse()
        try:
            return scope.resolve(parts)
        except PathError as error:
            at = nodes[error.index]
            if isinstance(at, ast.Attribute) and at.end_col_offset is not None:
                at.col_offset = at.end_col_offset - len(at.attr.encode())  # the caret is under this part
            raise self.fault(at, error.reason, error.hint) from None

    def _comparisons(self, node: ast.Compare, scope: Scope) -> Tree:
        left, trees = node.left, []
        for operator, right in zip(node.ops, node.comparators, strict=True):
            if isinstance(operator, ast.Is | ast.IsNot):
                raise self.fault(left, "'is' is not part of the condition language", "write == or !=")
            compare = self._membership if isinstance(operator, ast.In | ast.NotIn) else self._comparison
            trees.append(compare(left, operator, right, scope))
            left = right
        return trees[0] if len(trees) == 1 else Junction("and", tuple(trees))

    def _comparison(self, left: ast.expr, operator: ast.cmpop, right: ast.expr, scope: Scope) -> Compare:
        a, a_kind = self._scalar(left, scope)
        b, b_kind = self._scalar(right, scope)
        if isinstance(a, Const) and isinstance(b, Const):
            raise self.fault(left, "this compares two constants")
        prefix = self._agree(left, (a, a_kind), right, (b, b_kind))
        if isinstance(operator, ast.Eq | ast.NotEq):
            return Compare(prefix + "equal", a, b, inverted=isinstance(operator, ast.NotEq))
        if not prefix and not (a_kind.names & _NUMBERS and b_kind.names & _NUMBERS):
            raise self.fault(left, f"{a_kind} has no order", "only numbers and versions are smaller or larger")
        how, swapped = _ORDER[type(operator)]
        return Compare(prefix + how, b, a) if swapped else Compare(prefix + how, a, b)

    def _scalar(self, node: ast.expr, scope: Scope) -> tuple[Tree, Scalar]:
        tree, kind = self.expression(node, scope)
        if isinstance(kind, Scalar):
            return tree, kind
        hint = "compare one of its fields, such as .name or .host" if isinstance(kind, Entity) else ""
        if isinstance(kind, Many):
            hint = "ask any(x == ... for x in path), or whether a value is 'in' it"
        raise self.fault(node, f"this is a {kind} and cannot be compared", hint)

    def _agree(self, left: ast.expr, a: tuple[Tree, Scalar], right: ast.expr, b: tuple[Tree, Scalar]) -> str:
        """Reject two scalars that can never be equal; returns ``version_`` for versions, else an empty text."""
        (a_tree, a_kind), (b_tree, b_kind) = a, b
        if isinstance(a_tree, Const):
            return self._agree(right, b, left, a)
        if isinstance(b_tree, Const):
            self._fits(right, b_tree, b_kind, a_kind)
        elif not _comparable(a_kind, b_kind):
            raise self.fault(right, f"{b_kind} cannot be compared with {a_kind}")
        elif a_kind.values and b_kind.values and not a_kind.values & b_kind.values:
            raise self.fault(right, f"this is {b_kind}, which is never {a_kind}")
        return "version_" if "version" in a_kind.names else ""

    def _fits(self, node: ast.expr, constant: Const, kind: Scalar, wanted: Scalar) -> None:
        """Reject a constant that a value of kind ``wanted`` can never have."""
        value = constant.value
        if wanted.names == {"version"} and isinstance(value, str):
            if not value[:1].isdigit() or VersionRange.exact(value) is None:
                raise self.fault(node, f"{value!r} is not a version", 'write for instance "2.21" or "2.18.3"')
        elif not _comparable(kind, wanted):
            raise self.fault(node, f"{value!r} is a {kind}, but the other side is a {wanted}")
        elif wanted.values and value not in wanted.values:
            raise self.fault(node, f"{value!r} is not one of its values", suggestion(str(value), wanted.values))

    def _membership(self, left: ast.expr, operator: ast.cmpop, right: ast.expr, scope: Scope) -> Compare:
        inverted = isinstance(operator, ast.NotIn)
        tree, kind = self._scalar(left, scope)
        prefix = "version_" if "version" in kind.names else ""
        if isinstance(right, ast.List | ast.Tuple):
            return Compare(prefix + "listed", tree, self._items(left, tree, kind, right), inverted)
        if isinstance(right, ast.Attribute) and isinstance(right.value, ast.Name) and right.value.id == WORDS:
            return Compare(prefix + "listed", tree, self._named_items(right, kind, scope), inverted)
        constant = self._constant(right)
        if constant is not None:
            return Compare(self._text_set(left, tree, kind, right, constant[0]), tree, constant[0], inverted)
        where, where_kind = self.expression(right, scope)
        if isinstance(where_kind, Many) and isinstance(where_kind.item, Scalar):
            prefix = self._agree(left, (tree, kind), right, (where, where_kind.item))
            return Compare(prefix + "member", tree, where, inverted)
        if "str" in kind.names and isinstance(where_kind, Table):
            return Compare("is_key" if where_kind.optional else "perhaps_key", tree, where, inverted)
        if "str" in kind.names and isinstance(where_kind, Scalar) and where_kind.names == STR.names:
            return Compare("substring", tree, where, inverted)
        hint = "a list has brackets, a network a prefix length"
        raise self.fault(right, f"a {kind} is never in a {where_kind}", hint)

    def _items(self, left: ast.expr, tree: Tree, kind: Scalar, right: ast.List | ast.Tuple) -> Items:
        if isinstance(tree, Const):
            raise self.fault(left, "this compares constants")
        values = []
        for element in right.elts:
            constant = self._constant(element)
            if constant is None:
                raise self.fault(element, "a list holds constants only")
            self._fits(element, constant[0], constant[1], kind)
            values.append(constant[0].value)
        return Items(tuple(values))

    def _named_items(self, node: ast.Attribute, kind: Scalar, scope: Scope) -> Items:
        """Resolve ``words.NAME``: a list of the area's ``words.toml``."""
        known = scope.names.words
        if node.attr not in known:
            hint = suggestion(node.attr, known, "name it in words.toml beside the rule")
            raise self.fault(node, f"no list is called {node.attr!r}", hint)
        for value in known[node.attr]:
            constant = Const(value)
            self._fits(node, constant, STR if isinstance(value, str) else INT, kind)
        return Items(known[node.attr])

    def _text_set(self, left: ast.expr, tree: Tree, kind: Scalar, right: ast.expr, constant: Const) -> str:
        """Check a network or a version constraint given as text; returns the name of the comparison."""
        if isinstance(tree, Const) or not isinstance(constant.value, str):
            raise self.fault(
                left, "this compares constants" if isinstance(tree, Const) else ("'in' cannot be used with a number")
            )
        try:
            if "version" in kind.names:
                Constraint.parse(constant.value)
                return "constraint"
            if "str" in kind.names and not kind.values and "/" in constant.value:
                ipaddress.ip_network(constant.value, strict=False)
                return "network"
        except ValueError as error:
            raise self.fault(right, str(error)) from None
        hint = f'write a list: in ["{constant.value}"], or a network: in "10.0.0.0/8"'
        raise self.fault(right, f"a {kind} is never in a text", hint)

    def _quantifier(self, node: ast.Call, scope: Scope) -> tuple[Tree, Kind]:
        word = node.func.id if isinstance(node.func, ast.Name) else ""
        if word not in QUANTIFIERS:
            what = word or ast.unparse(node.func)[:40]
            raise self.fault(node, f"{what!r} cannot be called", suggestion(word, QUANTIFIERS, _HELP))
        body = node.args[0] if len(node.args) == 1 and not node.keywords else None
        if not isinstance(body, ast.GeneratorExp) or len(body.generators) != 1:
            raise self.fault(node, f"{word} takes one iteration", f"{word}(x.field == 1 for x in path if condition)")
        walk = body.generators[0]
        found, kind = self.path(walk.iter, scope)
        found, kind = self.elements(walk.iter, found, kind)
        name = self._new_name(walk.target, scope)
        inside = scope.bind(name, found, kind)
        conditions = tuple(self.truth(item, inside) for item in walk.ifs)
        where = Junction("and", conditions) if len(conditions) > 1 else conditions[0] if conditions else None
        tree = self._item(word, body.elt, name, inside)
        confining = conjuncts(where) + (conjuncts(tree) if word in ("any", "none", "count") else ())
        events = event_names(confining, name, confined) if found == EVENTS else None
        result = Quantifier(word, name, found, tree, where, events)  # type: ignore[arg-type]
        closed = names_read(result) <= {"job"}
        if not closed and scope.walked & scope.collections(found):
            raise self.fault(walk.iter, QUADRATIC, "use job.differences, or a condition that reads nothing but job")
        result = Quantifier(word, name, found, tree, where, events, closed)  # type: ignore[arg-type]
        return result, INT if word in ("count", "distinct") else BOOL

    def elements(self, node: ast.expr, found: Path, kind: Kind) -> tuple[Path, Kind]:
        """What an iteration over a path yields: the elements of a collection, the keys of a table."""
        if isinstance(kind, Table) and found.steps:
            last = found.steps[-1]
            return Path(found.start, (*found.steps[:-1], Step(last.kind, last.name, many=True)), many=True), STR
        if not isinstance(kind, Many) or isinstance(kind.item, Table):
            raise self.fault(node, f"this is a {kind}, not a collection")
        return found, kind.item

    def _new_name(self, target: ast.expr, scope: Scope) -> str:
        if not isinstance(target, ast.Name):
            raise self.fault(target, "an iteration binds one name")
        if target.id in scope.kinds or target.id in RESERVED:
            raise self.fault(target, f"{target.id!r} is taken", "choose another name for the elements")
        return target.id

    def _item(self, word: str, node: ast.expr, name: str, scope: Scope) -> Tree | None:
        if word == "distinct":
            tree, _ = self._scalar(node, scope)
            if isinstance(tree, Const):
                raise self.fault(node, "a constant has one value")
            return tree
        if word == "count" and isinstance(node, ast.Name) and node.id == name:
            return None
        return self.truth(node, scope)


def _comparable(a: Scalar, b: Scalar) -> bool:
    return bool(a.names & b.names or (a.names & _NUMBERS and b.names & _NUMBERS))
