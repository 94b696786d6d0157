"""How a program numbers, starts and forks its processes."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.parsers.script.blocks import Script
from ncdiag.parsers.script.names import Names, constant, keyword, last

_STARTS = frozenset({"Process", "Pool", "ProcessPoolExecutor"})
_ENGINES = frozenset({"LLM", "AsyncLLM", "Engine"})
_SIZES = ("tensor_parallel_size", "tp_size", "pipeline_parallel_size", "data_parallel_size")
_TOUCHES = lazy_regex(
    r"torch\.cuda\.(?:get_device_\w+|current_device|mem_get_info|init|set_device|empty_cache|synchronize|memory_\w+"
    r"|is_bf16_supported|current_stream|Stream)"
)
_OTHER_METHOD = frozenset({"set_start_method", "get_context"})


class Numbers(msgspec.Struct, frozen=True):
    """Where a program says its rank and how many there are, and those that are constants."""

    node: ast.expr
    rank: int | None
    size: int | None


def numbers(names: Names) -> Iterator[Numbers]:
    """What the calls that begin a job are given, and what the program puts into the environment."""
    for call in names.calls:
        if last(call.func) in {"init_process_group", "init_distributed"}:
            yield Numbers(call, _number(keyword(call, "rank")), _number(keyword(call, "world_size")))
        elif last(call.func) == "initialize" and keyword(call, "num_processes") is not None:
            yield Numbers(call, _number(keyword(call, "process_id")), _number(keyword(call, "num_processes")))
    told = dict(names.variables)
    if "WORLD_SIZE" in told:
        yield Numbers(told["WORLD_SIZE"], _number(told.get("RANK")), _number(told["WORLD_SIZE"]))


def is_run_once(said: Numbers) -> bool:
    """Does a call that meets others at an address or in a file tell nothing that differs between the processes?

    Without a launcher, a program of which the text starts no process and reads no argument is run by itself.
    """
    if not isinstance(said.node, ast.Call) or (said.size or 0) <= 1 or keyword(said.node, "rank", "process_id"):
        return False
    place = constant(keyword(said.node, "init_method", "coordinator_address"))
    return isinstance(place, str) and place.startswith(("tcp://", "file://"))


def _number(node: ast.expr | None) -> int | None:
    value = constant(node)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def local_as_rank(call: ast.Call, names: Names) -> bool:
    """Is the number of the process on its host given as its rank?

    Such a number is the first argument of a function that is spawned, whatever its name.
    """
    rank = keyword(call, "rank")
    if isinstance(rank, ast.Name) and rank.id not in names.values and rank.id in _indices(names):
        return True
    if isinstance(rank, ast.Name) and len(found := names.values.get(rank.id, [])) == 1:
        rank = found[0]
    if isinstance(rank, ast.Call) and rank.args:
        rank = rank.args[0]
    told = constant(rank.slice) if isinstance(rank, ast.Subscript) else last(rank) if rank is not None else ""
    return str(told).lower() == "local_rank"


def _indices(names: Names) -> set[str]:
    """The names of the first arguments of spawned functions, in which they get their number on the host."""
    found = set()
    for call, _ in spawned(names):
        started = call.args[0] if call.args else keyword(call, "fn")
        function = names.functions.get(last(started)) if started is not None else None
        if function is not None and function.args.args:
            found.add(function.args.args[0].arg)
    return found


_OWN_NAME = frozenset({"gethostname", "getfqdn", "gethostbyname", "node"})
_BY_CHANCE = frozenset({"randint", "randrange", "choice", "random"})


def own_place(names: Names) -> ast.Call | None:
    """A call by which each process gets a place to meet of its own: a free or a random port, the name of its own host.

    Where the program spawns its processes, they have what the first one found.
    """
    if any(spawned(names)):
        return None
    told = dict(names.variables)
    for variable, ways in (("MASTER_PORT", _BY_CHANCE), ("MASTER_ADDR", _OWN_NAME)):
        value = told.get(variable)
        for call in () if value is None else (node for node in ast.walk(value) if isinstance(node, ast.Call)):
            if last(call.func) in ways or (
                variable == "MASTER_PORT" and _binds_any(names.functions.get(last(call.func)))
            ):
                return call
    return next((found for function in names.functions.values() if (found := _binds_any(function))), None)


def _binds_any(function: ast.FunctionDef | ast.AsyncFunctionDef | None) -> ast.Call | None:
    """The call that binds a socket to any free port, in a function that returns its number."""
    calls = [node for node in ast.walk(function) if isinstance(node, ast.Call)] if function is not None else []
    if not any(last(call.func) == "getsockname" for call in calls):
        return None
    return next((call for call in calls if last(call.func) == "bind" and call.args and _any_port(call.args[0])), None)


def _any_port(node: ast.expr) -> bool:
    return isinstance(node, ast.Tuple) and len(node.elts) > 1 and constant(node.elts[1]) == 0


def spawned(names: Names) -> Iterator[tuple[ast.Call, int]]:
    """The calls that start several processes, each with their number; 0 where it is not told."""
    for call in names.calls:
        if last(call.func) in {"spawn", "start_processes"} and (call.args or keyword(call, "fn")):
            count = constant(keyword(call, "nprocs") or (call.args[2] if len(call.args) > 2 else None))  # noqa: PLR2004
            yield call, count if isinstance(count, int) else 0


def unguarded(script: Script, names: Names) -> ast.Call | None:
    """Workers that are spawned, or an engine that may spawn them, while the program is imported."""
    if any(isinstance(node, ast.Name) and node.id == "__name__" for part in script.body for node in ast.walk(part)):
        return None
    imported = any(isinstance(part, (ast.Import, ast.ImportFrom)) for part in script.body)
    for call in _at_once(script.body) if imported else ():
        if any(call is each for each, _ in spawned(names)) or (last(call.func) in _ENGINES and _has_workers(call)):
            return call
    return None


def _has_workers(call: ast.Call) -> bool:
    sizes = (constant(keyword(call, name)) for name in _SIZES)
    return any(isinstance(size, int) and size > 1 for size in sizes)


def forked(script: Script, names: Names) -> ast.Call | None:
    """A call that starts CUDA before processes are forked in the same statements."""
    calls = names.calls
    if any(last(call.func) in _OTHER_METHOD for call in calls) or any(
        name.endswith("MULTIPROC_METHOD") for name, _ in names.variables
    ):
        return None
    touched: ast.Call | None = None
    for call in _at_once(script.body):
        name = names.of(call.func)
        if touched is None and (_TOUCHES.fullmatch(name) or moves(call)):
            touched = call
        elif touched is not None and _forks(name, call):
            return touched
    return None


def _forks(name: str, call: ast.Call) -> bool:
    """Does it start workers by fork, which is what Linux does unless told otherwise?"""
    is_start = last(call.func) in _STARTS and (name in _STARTS or "multiprocessing" in name or "concurrent" in name)
    return is_start or (last(call.func) in _ENGINES and _has_workers(call))


def moves(call: ast.Call) -> bool:
    """Does it move a module or a tensor to a GPU, ``.cuda()`` or ``.to("cuda")``, or create one there?"""
    if last(call.func) == "cuda":
        return isinstance(call.func, ast.Attribute)
    target = call.args[0] if last(call.func) == "to" and call.args else keyword(call, "device")
    return isinstance(target, ast.Constant) and str(target.value).startswith("cuda")


def _at_once(body: Sequence[ast.stmt]) -> Iterator[ast.Call]:
    """The calls of the main program in their order, without those in its functions, under its guard as well."""
    for statement in body:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        found = [node for node in ast.walk(statement) if isinstance(node, ast.Call)]
        yield from sorted(found, key=lambda call: (call.lineno, call.col_offset))
