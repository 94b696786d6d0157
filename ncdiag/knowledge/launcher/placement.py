"""Models whose tensors do not suit the parallel job: of several types, or on the GPUs of other ranks."""

from __future__ import annotations

import re

from ncdiag.facts.derived import derived, derived_of
from ncdiag.facts.model import Event
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.outcome import is_open_failure
from ncdiag.messages.vocabulary.exceptions import EXCEPTION

_SPREAD, _BY_LOADER = "model-spread-over-gpus", "model-spread-by-loader"
_WITH_SHARDING = "DeepSpeed Zero-3 is not compatible with "
"""transformers modeling_utils.py (4.20 to 4.48), integrations/accelerate.py (check_and_set_device_map, from 4.50).

It is read as an exception, not as a message: programs that avoid the error quote it in a comment.
"""
_ANY_TENSORS = "Expected all tensors"
_TYPE = r"torch\.(\w{3,20})"
_SMALL = ("bfloat16", "float16")


@derived
def mixed_text(event: Event, view: View) -> str:
    """What is mixed: ``bfloat16 and float32``, or the line itself."""
    types = _types(event)
    return " and ".join(types) if types else event.text


@derived
def cast_line(event: Event, view: View) -> str:
    """The statement that brings all parameters to one type; empty where the line names no two types that a cast joins.

    Weights in 4 bits are stored as bytes: they are told to be stored in the type of the others.
    """
    types = _types(event)
    if "uint8" in types:
        others = next((name for name in types if name in {*_SMALL, "float32"}), "bfloat16")
        return f"BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_storage=torch.{others})"
    small = next((name for name in _SMALL if name in types), None)
    return f"model = model.to(torch.{small})" if small and len(types) > 1 else ""


def _types(event: Event) -> list[str]:
    """The types that the line names, in its order."""
    return list(dict.fromkeys(re.findall(_TYPE, event.text)))


@derived_of(_SPREAD, EXCEPTION)
def is_model_spread(event: Event, view: View) -> bool:
    """Did a process end because its model is to be where this process may not have it: on several GPUs, or whole?

    Tensors of one operation are on two GPUs for many reasons: a checkpoint that torch.load put on GPU 0, a program
    that uses two GPUs on purpose. That counts only beside a line that lets the loader spread the model.
    """
    if _ANY_TENSORS in event.text:
        spread = next((other for other in view.job.events if other.event == _BY_LOADER), None)
        if spread is None or not is_under_launcher(event, view):
            return False
        view.note(spread)
    if event.event == EXCEPTION and not is_mapped_before_sharding(event, view):
        return False
    return is_open_failure(event, view)


@derived_of(_SPREAD, EXCEPTION)
def is_mapped_before_sharding(event: Event, view: View) -> bool:
    """Does the loader refuse to place whole weights of a model that ZeRO-3 partitions as it is loaded?"""
    error = str(event.fields.get("error", ""))
    return error.startswith(_WITH_SHARDING) and "device_map" in error


@derived
def is_under_launcher(event: Event, view: View) -> bool:
    """Was the process started as one of several, by the line itself or by the launch?"""
    if event.rank is not None or "distributed mode" in event.text:
        return True
    job = view.job
    return (job.nranks or 0) > 1 or any((launch.nproc_per_node or launch.np or 0) > 1 for launch in job.launches)
