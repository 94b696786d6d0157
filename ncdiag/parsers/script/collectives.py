"""Calls that every rank has to make, by library, and those that a condition on the rank keeps from some.

Sources: torch.distributed (distributed_c10d.py), horovod (torch/mpi_ops.py, functions.py), accelerate (accelerator.py),
paddle.distributed, jax.experimental.multihost_utils, mpi4py, lightning (strategies), transformers (trainer.py).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.parsers.script.names import INVERSE, Names, Side, constant, keyword, last

_ALWAYS = frozenset({
    "barrier", "monitored_barrier", "wait_for_everyone", "all_reduce", "all_reduce_coalesced", "allreduce",
    "allreduce_", "grouped_allreduce", "all_gather", "allgather", "all_gather_into_tensor", "all_gather_object",
    "all_gather_coalesced", "_all_gather_base", "allgather_object", "broadcast_object_list", "broadcast_object",
    "broadcast_parameters", "broadcast_optimizer_state", "broadcast_variables", "broadcast_global_variables",
    "reduce_scatter", "reduce_scatter_tensor", "reducescatter", "_reduce_scatter_base", "all_to_all",
    "all_to_all_single", "alltoall", "gather_object", "scatter_object_list", "gather_for_metrics",
    "pad_across_processes", "new_group", "new_subgroups", "new_subgroups_by_enumeration", "split_group",
    "init_device_mesh", "sync_global_devices", "process_allgather", "broadcast_one_to_all",
    "DistributedDataParallel", "FullyShardedDataParallel", "fully_shard", "FSDP", "DDP",
    "BroadcastGlobalVariablesCallback", "BroadcastGlobalVariablesHook", "MetricAverageCallback", "Barrier",
    "Allreduce", "Bcast", "Allgather",
})  # fmt: skip
"""Names that mean nothing else."""
_OF_LIBRARY = frozenset({"broadcast", "broadcast_", "reduce", "gather", "scatter", "bcast"})
_LIBRARY = lazy_regex(
    r"torch\.distributed|(?:.*\.)?(?:horovod|hvd)(?:\.\w+)?|paddle\.distributed(?:\.\w+)*|accelerate\.utils(?:\.\w+)*"
    r"|(?:.*\.)?(?:accelerator|fabric|strategy|deepspeed\.comm|dist|idist|COMM_WORLD)|ignite\.distributed|mmengine\.dist"
    r"|(?:.*\.)?utils\.comm"
)
_OF_TRAINER = frozenset({"evaluate", "predict", "test", "validate", "fit", "train", "save_checkpoint"})
_OF_TRAINER_TOLD = "trainer.log_dir"
"""What Lightning's trainer asks the first rank for, by a broadcast."""
_OF_SHARDED = frozenset(
    {"state_dict", "get_state_dict", "save_checkpoint", "save_16bit_model", "save_state", "save_model"}
)
_HOLDS_MODEL = lazy_regex(r"(?i)model|engine|module|net|policy|actor|critic|accelerator|trainer|fsdp|ddp")
_MODELS = ("model", "model_engine", "engine", "net")
"""Names of the sharded model in a piece of a program that does not show where it is made."""
_ENGINES = frozenset({"model_engine", "ds_engine", "engine", "deepspeed_engine"})
"""Names of DeepSpeed's engine, whose save_checkpoint all ranks have to call."""
_NOT_OURS = frozenset({"Barrier", "Bcast"})
_OTHER_GROUP = lazy_regex(r"(?i)(?:.*_)?(?:group|pg|mesh|comm|subgroup)\d*")
_WHOLE_GROUP = lazy_regex(r"(?i)(?:.*\.)?(?:world|default_pg|group\.world)")
_EVALUATES = lazy_regex(r"(?i).*(?:eval|valid|test|generate|inference|predict|sample).*")
_WRAPS = frozenset({"DistributedDataParallel", "FullyShardedDataParallel", "fully_shard", "FSDP", "DDP"})
"""With the names under which they are usually imported, as a piece of a program shows no imports."""
_FIRST_ONLY = lazy_regex(
    r"(?i)(?:.*\.)?(?:rank_?zero_only|master_only|main_process_only|on_(?:local_)?main_process|(?:run_)?on_rank_?zero)"
)
_JOINS = frozenset({"horovod.join", "horovod.torch.join", "horovod.tensorflow.join"})
_FAMILY = {"monitored_barrier": "barrier", "wait_for_everyone": "barrier"}
_GROUPS = frozenset({"new_group", "new_subgroups", "new_subgroups_by_enumeration"})
_TEXT, _REST = 2000, 200
"""Maximum number of characters of arguments that are compared, and of statements after a condition that are checked."""
Way = tuple[Side, ast.expr, Sequence[ast.stmt]]
"""For which ranks a branch is, the condition that it follows, and its statements."""
Made = dict[str, ast.expr]
"""The calls that are made on a way through the program: what has to match on all ranks, and where it stands."""


class Lonely(msgspec.Struct, frozen=True):
    """A call that ranks of one side make and others do not."""

    what: str
    side: Side
    test: str
    call: ast.expr


class Finder:
    """Looks through one script. ``sharded``: it shards the parameters of its model."""

    def __init__(self, names: Names, *, sharded: bool) -> None:
        """Note which variables hold wrapped models."""
        self._names, self._sharded = names, sharded
        self._functions: dict[str, Made] = {}
        found = {
            name for name, values in names.values.items()
            if any(isinstance(v, ast.Call) and self._is_wrapper(v) for v in values)
        }  # fmt: skip
        self._wraps = bool(found)
        self._wrapped = found or {name for name in _MODELS if sharded and name not in names.values}

    @property
    def wraps(self) -> bool:
        """Does the script wrap a model, whose passes all ranks have to make?"""
        return self._wraps

    def _is_wrapper(self, call: ast.Call) -> bool:
        return self._names.of(call.func).rpartition(".")[2] in _WRAPS

    def lonely(self, body: Sequence[ast.stmt]) -> list[Lonely]:
        """The calls that no other branch answers; none where the program lets ranks leave earlier (``join``)."""
        if any(last(call.func) == "Join" or self._names.of(call.func) in _JOINS for call in self._names.calls):
            return []
        found = list(self._list(body))
        return [
            each
            for each in found
            if not any(
                each.what == other.what
                and (
                    {each.side, other.side} == {"first", "others"} or (each.side == "some" and other.test != each.test)
                )
                for other in found
            )
        ]

    def _list(self, body: Sequence[ast.stmt]) -> Iterator[Lonely]:
        for index, statement in enumerate(body):
            if isinstance(statement, ast.If) and (ways := self._ways(statement)):
                yield from self._branches(ways, body[index + 1 : index + _REST])
                for _, _, way in ways:
                    yield from self._list(way)
                continue
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)) and self._is_for_first(statement):
                made = self._made(statement.body)
                yield from (Lonely(what, "first", "", call) for what, call in made.items())
                continue
            for part in _bodies(statement):
                yield from self._list(part)

    def _is_for_first(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
        marks = (each.func if isinstance(each, ast.Call) else each for each in function.decorator_list)
        return any(_FIRST_ONLY.fullmatch(self._names.of(mark)) for mark in marks)

    def _ways(self, statement: ast.If) -> list[Way]:
        """The branches of a condition with its ``elif``; nothing unless all of them go by the rank.

        Without ``else`` the last way is empty, or is left out where several branches may name all ranks that there are.
        """
        ways: list[Way] = []
        node = statement
        while True:
            side = self._names.side(node.test)
            if side is None:
                return []
            ways.append((side, node.test, node.body))
            if len(node.orelse) != 1 or not isinstance(node.orelse[0], ast.If):
                break
            node = node.orelse[0]
        if node.orelse or len(ways) == 1:
            ways.append((INVERSE[ways[0][0]], statement.test, node.orelse))
        return ways

    def _branches(self, ways: Sequence[Way], rest: Sequence[ast.stmt]) -> Iterator[Lonely]:
        """What some ways come to and others do not; a rank whose way ends does not come to the rest."""
        if any(body and isinstance(body[-1], ast.Raise) for _, _, body in ways):
            return
        following = self._made(rest) if any(_ends(body) for _, _, body in ways) else {}
        made = [{**({} if _ends(body) else following), **self._made(body)} for _, _, body in ways]
        for what in dict.fromkeys(name for way in made for name in way):
            held = next(index for index, way in enumerate(made) if what in way)
            if any(what not in way for way in made):
                side, test, _ = ways[held]
                yield Lonely(what, side, ast.dump(test)[:_TEXT], made[held][what])

    def _made(self, body: Sequence[ast.stmt]) -> Made:
        """The calls in these statements and in the program's functions that they call."""
        found: Made = {}
        for node in _walk(body):
            if isinstance(node, ast.Attribute) and self._names.of(node).endswith(_OF_TRAINER_TOLD):
                found.setdefault(node.attr, node)
            if not isinstance(node, ast.Call):
                continue
            what = self.collective(node)
            if what:
                found.setdefault(what, node)
            elif last(node.func) in self._names.functions and self._is_own(node):
                for inner in self._within(last(node.func)):
                    found.setdefault(inner, node)
        return found

    def _within(self, name: str) -> Made:
        """The calls that a function of the program makes; those of one that calls itself are its own."""
        if name not in self._functions:
            self._functions[name] = {}
            self._functions[name] = self._made(self._names.functions[name].body)
        return self._functions[name]

    def _is_own(self, call: ast.Call) -> bool:
        """Is it a call of a function of the program, and not of some object that has one of that name?"""
        return self._names.of(call.func).rpartition(".")[0] in {"", "self", "cls"}

    def collective(self, call: ast.Call) -> str:
        """What has to match on all ranks; empty for a call that needs no other rank, or those of a group alone."""
        dotted = self._names.of(call.func)
        owner, _, name = dotted.rpartition(".")
        if name in _GROUPS:
            alone = constant(keyword(call, "use_local_synchronization")) is True
            return "" if alone else f"{name} {''.join(map(ast.dump, call.args))[:_TEXT]}"
        if name in self._names.functions and self._is_own(call):
            return ""
        if name in _NOT_OURS and not _LIBRARY.fullmatch(self._owner(call)):
            return ""
        if name in _ALWAYS or (name in _OF_LIBRARY and _LIBRARY.fullmatch(self._owner(call))):
            return "" if _in_group(call, self._names) else _FAMILY.get(name, name)
        return self._hidden(call, owner, name)

    def _owner(self, call: ast.Call) -> str:
        """The object of a call; of a variable that holds a communicator, that."""
        owner = self._names.of(call.func).rpartition(".")[0]
        values = self._names.values.get(owner.rpartition(".")[2], ())
        held = next((self._names.of(v) for v in values if isinstance(v, ast.Attribute)), "")
        return held if held.endswith("COMM_WORLD") else owner

    def _hidden(self, call: ast.Call, owner: str, name: str) -> str:
        """Calls that hold collectives: of a trainer, of a sharded model, of a logger that reduces."""
        if owner.endswith("trainer") and name in _OF_TRAINER:
            return name
        is_sharded = self._sharded or (name == "save_checkpoint" and owner.rpartition(".")[2] in _ENGINES)
        if is_sharded and name in _OF_SHARDED and _HOLDS_MODEL.search(owner):
            return name
        if name in {"log", "log_dict"} and constant(keyword(call, "sync_dist")) is True:
            return name
        return ""

    def is_pass(self, call: ast.Call) -> bool:
        """Does it run, or hand to an evaluation, a model that is wrapped?"""
        held = [call.func, *call.args, *(each.value for each in call.keywords)]
        if isinstance(call.func, ast.Attribute) and call.func.attr in {"generate", "forward"}:
            held.append(call.func.value)
        evaluates = last(call.func) in self._wrapped or _EVALUATES.fullmatch(last(call.func))
        return bool(evaluates) and any(
            isinstance(each, (ast.Name, ast.Attribute)) and last(each) in self._wrapped for each in held
        )

    def lonely_passes(self, body: Sequence[ast.stmt]) -> Iterator[ast.Call]:
        """Passes of a wrapped model that only the first rank makes."""
        for node in _walk(body, into=True):
            if isinstance(node, ast.If) and self._names.side(node.test) == "first":
                others = {ast.dump(each.func) for each in _walk(node.orelse) if isinstance(each, ast.Call)}
                for call in _walk(node.body):
                    if isinstance(call, ast.Call) and self.is_pass(call) and ast.dump(call.func) not in others:
                        yield call


def _in_group(call: ast.Call, names: Names) -> bool:
    """Is it made in a group of its own?"""
    named = keyword(call, "group", "process_group", "pg", "comm", "device_mesh")
    if named is not None:
        return not (isinstance(named, ast.Constant) or _WHOLE_GROUP.fullmatch(names.of(named)))
    return any(_OTHER_GROUP.fullmatch(last(each)) and not _WHOLE_GROUP.fullmatch(names.of(each)) for each in call.args)


def _ends(body: Sequence[ast.stmt]) -> bool:
    """Do these statements leave the function, the loop or the program?"""
    if not body:
        return False
    end = body[-1]
    if isinstance(end, (ast.Return, ast.Continue, ast.Break)):
        return True
    return (
        isinstance(end, ast.Expr)
        and isinstance(end.value, ast.Call)
        and last(end.value.func) in {"exit", "_exit", "quit"}
    )


def _bodies(statement: ast.stmt) -> Iterator[Sequence[ast.stmt]]:
    """The statements within a statement."""
    for field in ("body", "orelse", "finalbody"):
        part = getattr(statement, field, None)
        if isinstance(part, list):
            yield part
    for handler in getattr(statement, "handlers", ()):
        yield handler.body
    for case in getattr(statement, "cases", ()):
        yield case.body


def _walk(body: Sequence[ast.stmt], *, into: bool = False) -> Iterator[ast.AST]:
    """All nodes; those of functions that are defined there only when ``into`` them."""
    held: list[ast.AST] = list(reversed(body))
    while held:
        node = held.pop()
        yield node
        if into or not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            held.extend(reversed(list(ast.iter_child_nodes(node))))
