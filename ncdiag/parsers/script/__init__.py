"""Python programs that people paste because their job hangs: what is plainly wrong with them for several ranks.

Nothing is run: the text is parsed (`ast`). What a program computes is not known, so that whatever may be right is
taken for right; names of modules stand for themselves.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ncdiag.facts.observe import Observation

_GATE = (
    r"^[^\n\w]{0,12}(?:import|from)[ \t]{1,4}(?:torch|horovod|deepspeed|accelerate|paddle|jax|mpi4py|lightning|vllm"
    r"|sglang|pytorch_lightning|transformers|tensorflow)\b"
    r"|init_process_group|\b(?:dist|hvd|accelerator|torch\.distributed|jax\.distributed)\.\w+\(|rank_zero_only|\b(?:model_|ds_|deepspeed_)?engine\.save_checkpoint\(|new_group|\bset_device\("
    r"|\b(?:FSDP|DDP|fully_shard|FullyShardedDataParallel|DistributedDataParallel)\b"
)


def read(source: str, lines: Sequence[tuple[int, str]]) -> list[Observation]:
    """What is wrong with the programs in a paste, by its numbered lines; nothing where it has none."""
    if not (lines and re.search(_GATE, "\n".join(line for _, line in lines), re.MULTILINE)):
        return []
    from ncdiag.parsers.script import faults  # with its patterns, which a paste without a program does not need

    return faults.read(source, lines)
