"""Python programs, and shell scripts, that people paste because a job hangs: what is plainly wrong for several ranks.

Nothing is run: the text is parsed (`ast`). What a program computes is not known, so that whatever may be right is
taken for right; names of modules stand for themselves.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.observe import Observation
from ncdiag.parsers.script import shell

_MODULES = (
    "torch", "horovod", "deepspeed", "accelerate", "paddle", "jax", "mpi4py", "lightning", "vllm", "sglang",
    "pytorch_lightning", "transformers", "tensorflow",
)  # fmt: skip
_IMPORTS = lazy_regex(rf"^[^\n\w]{{0,12}}(?:import|from)[ \t]{{1,4}}(?:{'|'.join(_MODULES)})\b", re.MULTILINE)
_CALLED = (
    "init_process_group", "dist.", "hvd.", "accelerator.", "distributed.", "rank_zero_only", "engine.save_checkpoint(",
    "new_group", "set_device(", "FSDP", "DDP", "fully_shard", "FullyShardedDataParallel", "DistributedDataParallel",
)  # fmt: skip
"""One of these is in whatever `_CALLS` matches."""
_CALLS = lazy_regex(
    r"init_process_group|\b(?:dist|hvd|accelerator|torch\.distributed|jax\.distributed)\.\w+\(|rank_zero_only"
    r"|\b(?:model_|ds_|deepspeed_)?engine\.save_checkpoint\(|new_group|\bset_device\("
    r"|\b(?:FSDP|DDP|fully_shard|FullyShardedDataParallel|DistributedDataParallel)\b"
)


def read(source: str, lines: Sequence[tuple[int, str]]) -> list[Observation]:
    """What is wrong with the programs in a paste, by its numbered lines; nothing where it has none."""
    text = "\n".join(line for _, line in lines)
    early = shell.read(source, lines) if shell.may_hold(text) else []
    if not _may_hold_program(text):
        return early
    from ncdiag.parsers.script import faults  # with its patterns, which a paste without a program does not need

    return [*early, *faults.read(source, lines)]


def _may_hold_program(text: str) -> bool:
    """True if a text imports, or calls, what programs for several ranks do; most texts do not have the words of it."""
    if any(map(text.__contains__, _MODULES)) and _IMPORTS.search(text):
        return True
    return any(map(text.__contains__, _CALLED)) and _CALLS.search(text) is not None
