"""Attributes of a model that a program looks for in its wrapper (DDP, DataParallel), which passes on only forward()."""

from __future__ import annotations

import re

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived, derived_of
from ncdiag.facts.model import Event
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.outcome import is_open_failure
from ncdiag.messages.vocabulary.exceptions import EXCEPTION

_LACKS = lazy_regex(r"'(?P<wrapper>(?:MM)?(?:Distributed)?DataParallel)' object has no attribute '(?P<name>\w{1,80})'")
"""torch/nn/modules/module.py (__getattr__), of wrappers of PyTorch and MMCV. Those of FSDP and DeepSpeed pass on."""
_OWN = frozenset({
    "module", "device_ids", "device", "dim", "output_device", "src_device_obj", "device_type", "reducer", "logger",
    "process_group", "broadcast_buffers", "bucket_bytes_cap", "find_unused_parameters", "gradient_as_bucket_view",
    "static_graph", "require_backward_grad_sync", "require_forward_param_sync", "ddp_uneven_inputs_config", "no_sync",
    "join", "will_sync_module_buffers", "broadcast_bucket_size", "modules_buffers", "modules_params", "train_step",
    "val_step", "mixed_precision",
})  # fmt: skip
"""Attributes of the wrappers themselves: one that lacks them is of another release, or the other kind of wrapper."""


@derived_of(EXCEPTION)
def is_of_wrapped_model(event: Event, view: View) -> bool:
    """Did a program end because it took its model's wrapper for the model?"""
    name = wanted_attribute(event, view)
    return bool(name) and not name.startswith("_") and name not in _OWN and is_open_failure(event, view)


@derived
def wanted_attribute(event: Event, view: View) -> str:
    """The attribute that the wrapper lacks, ``generate``; empty for other lines."""
    found = _lacks(event)
    return found["name"] if found is not None else ""


@derived
def model_wrapper(event: Event, view: View) -> str:
    """The class of the wrapper: ``DistributedDataParallel``; empty for other lines."""
    found = _lacks(event)
    return found["wrapper"] if found is not None else ""


def _lacks(event: Event) -> re.Match[str] | None:
    return _LACKS.match(str(event.fields.get("error", ""))) if event.event == EXCEPTION else None
