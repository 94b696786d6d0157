"""Which GPU each process of a program takes, as far as its text alone tells.

Sources: torch.cuda.set_device and torch.device of the PyTorch docs; torch.distributed ("it is the user's
responsibility to ensure that this is set so that each rank has an individual GPU, via torch.cuda.set_device()").
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.parsers.script.names import Names, keyword, last

Choice = Literal["fixed", "current", "own", "none"]
"""One device by number, that which the process has, one that is computed, or nothing that tells a GPU."""
_CUDA = lazy_regex(r"(?:cuda|gpu|npu)(?P<number>:\d{1,3})?")
_DEVICE = frozenset({"torch.device", "device", "torch.cuda.device", "cupy.cuda.Device", "paddle.CUDAPlace"})
_SETS = frozenset({"set_device", "set_default_device"})
_CHOOSES = frozenset({
    "Accelerator", "initialize", "prepare_model", "Trainer", "SFTTrainer", "Fabric", "LLM", "Engine",
    "HfArgumentParser", "TrainingArguments",
})  # fmt: skip
_MAY_CHOOSE = lazy_regex(
    r"(?i)(?:(?:\w*_)?(?:init|set_?up|prepare|initiali[sz]e|configure|get|select|pick)_?\w*"
    r"(?:dist|device|parallel|process|env|ddp|gpu|torch)\w*|dist_init|launch)"
)
"""Calls that choose a device for the process, or may do so in code that is not shown."""
_OF_OBJECTS = frozenset({"all_gather_object", "broadcast_object_list", "gather_object", "scatter_object_list"})
_MEETS = frozenset({"barrier", "all_reduce", "broadcast", "all_gather", *_OF_OBJECTS})
_ORDER: tuple[Choice, ...] = ("own", "fixed", "current", "none")
"""Of several values that a name may have, the first of these counts."""
_DEPTH, _VALUES, _NAME = 3, 8, 80
_ASKED = lazy_regex(r"(?i)nccl")


class Use(msgspec.Struct, frozen=True):
    """A call that takes a GPU, and how it names it."""

    call: ast.Call
    choice: Choice
    sets: bool = False


class Devices:
    """The GPUs of the scripts of a paste, one program."""

    def __init__(self, scripts: Sequence[Names]) -> None:
        """Look at every call of every script."""
        self._scripts = scripts
        self.uses = [use for names in scripts for call in names.calls for use in self._of(call, names)]
        self.chosen = any(use.choice == "own" for use in self.uses)
        self.chosen |= any(_may_choose(call, names) for names in scripts for call in names.calls)
        self.chosen |= any(map(_hides, scripts))

    @property
    def over_nccl(self) -> bool:
        """Does the program meet its other processes by NCCL?"""
        return any(_meets_over_nccl(call, names) for names in self._scripts for call in names.calls)

    def shared(self) -> ast.Call | None:
        """A call by which all processes take one GPU; None where something chooses, or may choose, one for each."""
        if self.chosen:
            return None
        set_to = [use for use in self.uses if use.sets and use.choice == "fixed"]
        named = [use for use in self.uses if use.choice == "fixed" and not use.sets]
        plain = [use for use in self.uses if use.choice == "current" and not use.sets]
        found = next(iter([*set_to, *named, *plain]), None)
        return found.call if found else self._objects()

    def _objects(self) -> ast.Call | None:
        calls = (call for names in self._scripts for call in names.calls)
        return next((call for call in calls if last(call.func) in _OF_OBJECTS), None)

    def early(self) -> ast.Call | None:
        """A barrier or its like before any device is chosen: it takes GPU 0, or guesses."""
        calls = sorted((c for names in self._scripts for c in names.calls), key=lambda call: call.lineno)
        started = next((c for c in calls if last(c.func) == "init_process_group"), None)
        if started is None or keyword(started, "device_id") is not None:
            return None
        met = next((c for c in calls if last(c.func) in _MEETS and c.lineno > started.lineno), None)
        if met is None or keyword(met, "device_ids") is not None:
            return None
        if not self.chosen:
            return None if self.uses else met
        own = [use for use in self.uses if use.choice == "own" and use.sets]
        late = own and not any(use.call.lineno < met.lineno for use in self.uses if use.choice == "own")
        return met if late and self._in_one_body(met, own[0].call) else None

    def _in_one_body(self, one: ast.Call, other: ast.Call) -> bool:
        """Do both calls stand in one function, or in none?"""
        for names in self._scripts:
            holders = [
                {id(node) for node in ast.walk(function)} & {id(one), id(other)}
                for function in names.functions.values()
            ]
            if {id(one), id(other)} <= {id(call) for call in names.calls}:
                return all(len(held) != 1 for held in holders)
        return False

    def _of(self, call: ast.Call, names: Names) -> Iterator[Use]:
        name, dotted = last(call.func), names.of(call.func)
        if name in _SETS:
            yield Use(call, self._choice(call.args[0], names, number=True) if call.args else "own", sets=True)
            return
        if dotted in _DEVICE and call.args:
            yield Use(call, self._device(call, names))
        elif name == "cuda" and isinstance(call.func, ast.Attribute):
            yield Use(call, self._choice(call.args[0], names, number=True) if call.args else "current")
        elif name == "to" and call.args:
            yield Use(call, self._choice(call.args[0], names))
        for argument in (keyword(call, "device", "device_id"), keyword(call, "device_ids", "output_device")):
            if argument is not None:
                yield Use(call, self._choice(argument, names, number=True))

    def _device(self, call: ast.Call, names: Names, depth: int = 0) -> Choice:
        return self._choice(call.args[1 if len(call.args) > 1 else 0], names, number=True, depth=depth)

    def _choice(self, node: ast.expr, names: Names, *, number: bool = False, depth: int = 0) -> Choice:
        """How an expression names a GPU; ``number``: a bare number is one."""
        if isinstance(node, (ast.List, ast.Tuple)):
            return self._choice(node.elts[0], names, number=number, depth=depth) if len(node.elts) == 1 else "none"
        if isinstance(node, ast.Constant):
            return _constant(node, number=number)
        if isinstance(node, ast.Call) and names.of(node.func) in _DEVICE and node.args:
            return self._device(node, names, depth)
        held: Sequence[ast.expr] = ()
        if isinstance(node, ast.IfExp):
            held = node.body, node.orelse
        elif isinstance(node, (ast.Name, ast.Attribute)) and depth < _DEPTH:
            held = names.values.get(last(node), ())[:_VALUES]
        if names.of(node).startswith("torch."):
            return "none"  # a type
        found = {self._choice(each, names, number=number, depth=depth + 1) for each in held}
        return next((each for each in _ORDER if each in found), "own")


def _constant(node: ast.Constant, *, number: bool) -> Choice:
    if isinstance(node.value, int) and not isinstance(node.value, bool):
        return "fixed" if number and node.value >= 0 else "none"
    if not isinstance(node.value, str):
        return "none"
    found = _CUDA.fullmatch(node.value)
    return "none" if found is None else "fixed" if found["number"] else "current"


def _may_choose(call: ast.Call, names: Names) -> bool:
    """Does it choose a device, or may it do so in a function that is not shown?"""
    name = last(call.func)[:_NAME]
    if name in _CHOOSES:
        return True
    hidden = name not in names.functions and not names.of(call.func).startswith(("torch.", "os.", "horovod"))
    return hidden and name != "init_process_group" and _MAY_CHOOSE.fullmatch(name) is not None


def _hides(names: Names) -> bool:
    """Does the program show each process a GPU of its own?"""
    return any(
        isinstance(value, ast.Constant) is False and name == "CUDA_VISIBLE_DEVICES" for name, value in names.variables
    )


def _meets_over_nccl(call: ast.Call, names: Names) -> bool:
    """``init_process_group`` with NCCL, named there or where its argument gets its value."""
    name = last(call.func)
    if name == "init":
        return names.of(call.func).startswith("horovod")
    if name != "init_process_group":
        return False
    backend = keyword(call, "backend") or (call.args[0] if call.args else None)
    if isinstance(backend, (ast.Name, ast.Attribute)):
        backend = next(iter(names.values.get(last(backend), [])), backend)
    if isinstance(backend, ast.Constant):
        return isinstance(backend.value, str) and _ASKED.search(backend.value) is not None
    return backend is None or names.of(backend).endswith("backend")
