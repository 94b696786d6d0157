"""The list of visible GPUs, set by a program after CUDA has read it.

The driver reads CUDA_VISIBLE_DEVICES once, at the first call of a process (CUDA C++ Programming Guide, CUDA Environment
Variables). ``import torch`` alone makes none; torch.cuda.is_available() does (torch/cuda/__init__.py), as the lists of
devices of TensorFlow and JAX do.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from ncdiag.base.patterns import lazy_regex
from ncdiag.parsers.script.blocks import Script
from ncdiag.parsers.script.names import Names, constant, last
from ncdiag.parsers.script.starts import moves

_READS = lazy_regex(
    r"torch\.cuda\.(?:is_available|init|set_device|current_device|get_device_(?:name|properties|capability)|mem_get_info"
    r"|synchronize|current_stream|is_bf16_supported)"
    r"|tensorflow\.(?:config\.(?:experimental\.)?list_(?:physical|logical)_devices|test\.is_gpu_available)"
    r"|jax\.(?:local_)?(?:devices|device_count)"
)
_STARTS = lazy_regex(
    r"subprocess\.\w+|os\.(?:system|popen|exec\w+|spawn\w+|fork)|(?:.*\.)?(?:Process|Pool|Popen|spawn|start_processes)"
    r"|(?:ray|submitit|concurrent|joblib|dask)\.[\w.()]+|execute"
)
_LISTS = frozenset({"CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"})


def set_late(script: Script, names: Names) -> ast.expr | None:
    """The name of the variable where a body of statements sets it after a call that reads it; None for none.

    A program that starts others sets it for them.
    """
    if any(_STARTS.fullmatch(names.of(call.func)) for call in names.calls):
        return None
    bodies = [script.body, *(function.body for function in names.functions.values())]
    return next((late for body in bodies if (late := _late(body, names)) is not None), None)


def _late(body: Sequence[ast.stmt], names: Names) -> ast.expr | None:
    is_read = False
    for node in _in_order(body):
        if isinstance(node, ast.Call):
            is_read |= _READS.fullmatch(names.of(node.func)) is not None or moves(node)
        elif is_read and _sets_list(node):
            return node.slice
    return None


def _sets_list(node: ast.Subscript) -> bool:
    is_environment = isinstance(node.ctx, ast.Store) and last(node.value) == "environ"
    return is_environment and constant(node.slice) in _LISTS


def _in_order(body: Sequence[ast.stmt]) -> Iterator[ast.Call | ast.Subscript]:
    """The calls and the items of the statements in their order, without those of functions and classes."""
    for statement in body:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        found = [node for node in ast.walk(statement) if isinstance(node, (ast.Call, ast.Subscript))]
        yield from sorted(found, key=lambda node: (node.lineno, node.col_offset))
