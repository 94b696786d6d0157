"""What the names in a program stand for: modules under their aliases, the rank, conditions on it, local functions."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from ncdiag.base.patterns import lazy_regex
from ncdiag.parsers.script.blocks import Script

Side = Literal["first", "others", "some"]
"""For which ranks a condition holds: the first one, all others, or some that nothing more is known of."""

_USUAL = {
    "dist": "torch.distributed", "hvd": "horovod", "mp": "torch.multiprocessing", "DDP": "DistributedDataParallel",
    "FSDP": "FullyShardedDataParallel", "idist": "ignite.distributed",
}  # fmt: skip
"""What names stand for whose import was left out of a paste."""
_RANK = lazy_regex(r"(?i)(?:.*_|my)?rank|(?:local_)?process_(?:index|id)|procid|rank_?id")
_NO_RANK = lazy_regex(r"(?i).*(?:lora|low|matrix|tensor|num|max|min|total)_?rank|rank_?zero.*")
_RANK_CALL = frozenset({
    "get_rank", "rank", "local_rank", "get_local_rank", "get_global_rank", "get_node_local_rank", "process_index",
    "Get_rank", "get_world_rank", "get_data_parallel_rank", "get_tensor_model_parallel_rank",
})  # fmt: skip
_RANK_VARIABLE = lazy_regex(
    r"(?:LOCAL_|GLOBAL_|NODE_|GROUP_|MACHINE_)?RANK|SLURM_(?:PROCID|LOCALID|NODEID)|OMPI_COMM_WORLD_(?:LOCAL_)?RANK"
    r"|PMI_RANK|PADDLE_TRAINER_ID|JAX_PROCESS_ID"
)
_FIRST = lazy_regex(
    r"(?i)_?(?:is_)?(?:(?:local|global|world)_)?(?:main|master|primary|chief|coordinator)(?:_(?:process|rank|node))?"
    r"|_?is_(?:global_|local_)?(?:rank_?)?(?:zero|0)|is_(?:world|local)_process_zero|is_first_(?:rank|process|worker)"
)
_FIRST_CALL = lazy_regex(r"(?i)is_.*")
INVERSE: dict[Side, Side] = {"first": "others", "others": "first", "some": "some"}
_ENVIRONMENT = frozenset({"os.environ.get", "os.getenv", "environ.get", "getenv", "os.environ", "environ"})


class Names:
    """The names of one script, whatever the order in which it gives them their values."""

    def __init__(self, script: Script) -> None:
        """Read the imports, the assignments and the functions."""
        nodes = [node for statement in script.body for node in ast.walk(statement)]
        self.calls = [node for node in nodes if isinstance(node, ast.Call)]
        self.aliases = {**_USUAL, **dict(_imported(nodes))}
        self.functions = {
            node.name: node for node in nodes if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        }
        self.values: dict[str, list[ast.expr]] = {}
        for target, value in _assigned(nodes):
            self.values.setdefault(target, []).append(value)
        self.variables = list(_environment(nodes))
        self.ranks = {name for name, found in self.values.items() if any(map(self._says_rank, found))}
        self.ranks |= set(self._started())
        self._sides: dict[str, Side] = {}
        for name, found in self.values.items():
            sides = {side for value in found if not isinstance(value, ast.Name) and (side := self.side(value))}
            if len(sides) == 1 and all(isinstance(v, (ast.Compare, ast.UnaryOp, ast.BoolOp, ast.Call)) for v in found):
                self._sides[name] = sides.pop()

    def of(self, node: ast.expr) -> str:
        """The dotted name of an expression with its module's full name; ``()`` stands for what a call returns."""
        first, dot, rest = written(node).partition(".")
        return f"{self.aliases.get(first, first)}{dot}{rest}"

    def is_rank(self, node: ast.expr) -> bool:
        """Is it the number of the process?"""
        if isinstance(node, (ast.Name, ast.Attribute)):
            name = last(node)
            return name in self.ranks or (bool(_RANK.fullmatch(name)) and not _NO_RANK.fullmatch(name))
        return self._says_rank(node)

    def _says_rank(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Call) and last(node.func) == "int" and len(node.args) == 1:
            return self._says_rank(node.args[0])
        if isinstance(node, ast.BoolOp):
            return any(map(self._says_rank, node.values))
        if isinstance(node, ast.Call):
            return last(node.func) in _RANK_CALL or _variable(self.of(node.func), node.args)
        return isinstance(node, ast.Subscript) and _variable(self.of(node.value), [node.slice])

    def depends_on_rank(self, node: ast.expr) -> bool:
        """Does the number of the process stand anywhere in it?"""
        return any(isinstance(each, ast.expr) and self.is_rank(each) for each in ast.walk(node))

    def side(self, test: ast.expr) -> Side | None:
        """For which ranks a condition holds; None where it does not tell ranks of one job apart."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            inner = self.side(test.operand)
            return INVERSE[inner] if inner else None
        if isinstance(test, ast.BoolOp):
            sides = [side for each in test.values if (side := self.side(each))]
            return "some" if len(sides) > 1 and isinstance(test.op, ast.Or) else sides[0] if sides else None
        if isinstance(test, ast.Compare):
            return self._compared(test)
        if isinstance(test, ast.Call):
            name = last(test.func)
            return "first" if _FIRST.fullmatch(name) and _FIRST_CALL.fullmatch(name) and not test.args else None
        if isinstance(test, (ast.Name, ast.Attribute)):
            name = last(test)
            known = self._sides.get(name)
            return known or ("first" if _FIRST.fullmatch(name) else "others" if self.is_rank(test) else None)
        return "others" if self.is_rank(test) else None

    def _compared(self, test: ast.Compare) -> Side | None:
        left, right = test.left, test.comparators[0]
        if len(test.ops) != 1:
            return None
        if not self.is_rank(left) and self.is_rank(right) and isinstance(test.ops[0], (ast.Eq, ast.NotEq)):
            left, right = right, left
        if not self.is_rank(left):
            return "some" if isinstance(left, ast.BinOp) and self.depends_on_rank(left) else None
        operator = test.ops[0]
        if isinstance(operator, (ast.In, ast.NotIn)):
            side = _among(right)
            return INVERSE[side] if isinstance(operator, ast.NotIn) else side
        return _beside(operator, right)

    def _started(self) -> Iterator[str]:
        """The parameters by which functions get their rank: the first one of what is spawned."""
        for call in self.calls:
            if last(call.func) in {"spawn", "start_processes"} and call.args:
                yield from self._parameters(call.args[0])[:1]

    def _parameters(self, node: ast.expr) -> list[str]:
        function = self.functions.get(last(node))
        return [each.arg for each in function.args.args] if function else []


def written(node: ast.expr) -> str:
    """The dotted name of an expression as it is there; ``()`` stands for what a call returns."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    parts.append(node.id if isinstance(node, ast.Name) else "()")
    return ".".join(reversed(parts))


def last(node: ast.expr) -> str:
    """The last part of a name: ``barrier`` of ``dist.barrier``; empty for what is not a name."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def constant(node: ast.expr | None) -> object:
    """The value of a constant, a number in quotes as a number; None for others."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = constant(node.operand)
        return -value if isinstance(value, int) else None
    value = node.value if isinstance(node, ast.Constant) else None
    return int(value) if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 8 else value  # noqa: PLR2004


def keyword(call: ast.Call, *names: str) -> ast.expr | None:
    """The argument of one of these names."""
    return next((each.value for each in call.keywords if each.arg in names), None)


def _among(node: ast.expr) -> Side:
    held = [constant(each) for each in node.elts] if isinstance(node, (ast.List, ast.Tuple, ast.Set)) else []
    return "first" if held and set(held) <= {0, -1} else "some"


def _beside(operator: ast.cmpop, node: ast.expr) -> Side | None:
    """``== 0`` and its like; nothing for -1 and None, by which programs say that they run alone."""
    value = constant(node)
    if value is None or isinstance(value, bool) or not isinstance(value, int) or value < 0:
        named = not isinstance(node, ast.Constant) and isinstance(operator, (ast.Eq, ast.NotEq)) and value is None
        return "some" if named else None
    known: dict[tuple[type[ast.cmpop], int], Side | None] = {
        (ast.Eq, 0): "first", (ast.NotEq, 0): "others", (ast.Gt, 0): "others", (ast.LtE, 0): "first",
        (ast.GtE, 1): "others", (ast.Lt, 1): "first", (ast.GtE, 0): None, (ast.Lt, 0): None,
    }  # fmt: skip
    return known.get((type(operator), value), "some")


def _variable(name: str, arguments: Sequence[ast.expr]) -> bool:
    found = constant(arguments[0]) if arguments else None
    return name in _ENVIRONMENT and isinstance(found, str) and _RANK_VARIABLE.fullmatch(found) is not None


def _imported(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, str]]:
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from ((each.asname, each.name) for each in node.names if each.asname)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from ((each.asname or each.name, f"{node.module}.{each.name}") for each in node.names)


def _assigned(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, ast.expr]]:
    """Names, the last part of attributes among them, each with a value that it is given."""
    for node in nodes:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                yield from _pairs(target, node.value)
        elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)) and node.value is not None:
            yield from _pairs(node.target, node.value)


def _environment(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, ast.expr]]:
    """The variables of the environment that the program sets, each with its value."""
    for node in nodes:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Subscript) and last(target.value) == "environ":
                    yield str(constant(target.slice)), node.value


def _pairs(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(target, (ast.Tuple, ast.List)):
        if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts):
            for each, part in zip(target.elts, value.elts, strict=True):
                yield from _pairs(each, part)
    elif last(target):
        yield last(target), value
