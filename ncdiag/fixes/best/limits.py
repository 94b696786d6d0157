"""A longer time limit for collectives, in the words of the program that sets it."""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.told import told_context
from ncdiag.fixes.values import Bindings, Value, best

_DEFAULT_MS = 600_000
"""PyTorch's limit for NCCL since 2.2 (torch/distributed/constants.py)."""
_TIMES, _HOUR = 4, 3600
_OF_TRANSFORMERS = lazy_regex(r"--(?:per_device_train_batch_size|gradient_accumulation_steps|output_dir|ddp_timeout)\b")
_OF_MEGATRON = lazy_regex(r"--(?:tensor-model-parallel-size|micro-batch-size|distributed-timeout-minutes)\b")


@best
def longer_timeout(view: View, bindings: Bindings) -> Value:  # noqa: ARG001
    """An option, or a line of Python, that allows four times the limit that was reached, in whole hours."""
    limits = [each.timeout_ms for each in view.job.timeouts if each.timeout_ms]
    seconds = -(-max(limits, default=_DEFAULT_MS) * _TIMES // 1000 // _HOUR) * _HOUR
    texts = [launch.text for launch in view.job.launches]
    reason = f"four times the limit of {max(limits) // 1000} s" if limits else "four times the default"
    if any(map(_OF_TRANSFORMERS.search, texts)):
        return Value(text=f"--ddp_timeout {seconds}", reason=reason)
    if any(map(_OF_MEGATRON.search, texts)):
        return Value(text=f"--distributed-timeout-minutes {seconds // 60}", reason=reason)
    limit = f"timeout=datetime.timedelta(seconds={seconds})"
    if "accelerate" in told_context(view.job, view) or any(each.program == "accelerate" for each in view.job.launches):
        return Value(text=f"Accelerator(kwargs_handlers=[InitProcessGroupKwargs({limit})])", reason=reason)
    return Value(text=f'torch.distributed.init_process_group("nccl", {limit})', reason=reason)
