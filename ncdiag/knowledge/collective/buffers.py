"""Buffers of a model that DDP overwrites between two forward passes of one backward pass."""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived_of
from ncdiag.facts.model import Event, Job
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.outcome import is_open_failure
from ncdiag.facts.vocabulary.told import broken_by, cured_by
from ncdiag.messages.vocabulary.exceptions import EXCEPTION

_LEFT_ALONE = "ddp-buffers-left-alone"
_OPTION = lazy_regex(r"(?i)broadcast[_-]buffers[= ](?:false|no|0)\b|--no[_-](?:ddp[_-])?broadcast[_-]buffers\b")
"""An option of the Trainer, and of programs that pass it on."""
_CHANGED = lazy_regex(
    r"one of the variables needed for gradient computation has been modified by an inplace operation"
    r"(?:: \[(?P<type>[\w.]{1,60}))?"
)
"""torch/csrc/autograd/saved_variable.cpp; also the fault of a model that changes a tensor in place itself."""
_NO_PARAMETER = lazy_regex(r"(?:torch\.)?(?:cuda\.)?(?:CUDA)?(?:Long|Int|Short|Char|Byte|Bool)(?:Tensor|Type)")
"""Types that have no gradient: ids of positions, masks. Parameters and activations have others."""
_ONE_GPU = frozenset({"one-gpu", "fewer-gpus"})


@derived_of(EXCEPTION)
def is_buffer_overwritten(event: Event, view: View) -> bool:
    """Did the backward pass of a rank miss a saved tensor that DDP overwrote, rather than an operation of the model?

    True if the tensor has a type without gradients, or if it works with one GPU; not if DDP leaves buffers alone.
    """
    if not is_saved_tensor_changed(event, view) or not is_open_failure(event, view) or not _is_among_ranks(event, view):
        return False
    if view.remembered(("buffers of DDP left alone",), lambda: _are_left_alone(view)):
        return False
    return is_of_no_parameter(event, view) or _needs_one_gpu(view.job, view)


@derived_of(EXCEPTION)
def is_saved_tensor_changed(event: Event, view: View) -> bool:
    """Did a backward pass find a tensor changed that the forward pass had saved?"""
    return _CHANGED.search(str(event.fields.get("error", ""))) is not None


@derived_of(EXCEPTION)
def is_of_no_parameter(event: Event, view: View) -> bool:
    """Is the changed tensor one of integers or truth values, which no backward pass changes?"""
    found = _CHANGED.search(str(event.fields.get("error", "")))
    return found is not None and _NO_PARAMETER.fullmatch(found["type"] or "") is not None


def _are_left_alone(view: View) -> bool:
    """Does the program, or an option of its command, tell DDP not to copy buffers?"""
    return bool(view.events_named(_LEFT_ALONE)) or any(_OPTION.search(launch.text) for launch in view.job.launches)


def _is_among_ranks(event: Event, view: View) -> bool:
    """Is the process one of several, by its line or by the launch?"""
    job = view.job
    started = ((launch.nproc_per_node or launch.np or 0) > 1 for launch in job.launches)
    return event.rank is not None or (job.nranks or 0) > 1 or any(started)


def _needs_one_gpu(job: Job, view: View) -> bool:
    return not _ONE_GPU.isdisjoint(cured_by(job, view)) or "more-gpus" in broken_by(job, view)
