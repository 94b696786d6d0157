"""GPU memory of PyTorch's expandable segments, which RDMA cards and CUDA's IPC refuse."""

from __future__ import annotations

import re

from ncdiag.facts.derived import derived, derived_of
from ncdiag.facts.model import Event
from ncdiag.facts.view import View
from ncdiag.messages.vocabulary.reasons import error_name

_ALLOCATOR_SETTINGS = frozenset({"PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF", "PYTORCH_HIP_ALLOC_CONF"})
_EXPANDABLE = r"\bexpandable_segments:\s*(?i:true)\b"
_CUDA_FAILURE, _NO_CALL = "program-cuda-failure", "expandable-ipc-unsupported"
_EXPORT = r"(?i)custom_?all_?reduce\w*\.(?:cuh?|hip)\b.{0,80}invalid argument"
"""The export of buffers in csrc of vLLM, sgl-kernel and aiter; ranks in different containers fail to open them."""


@derived_of("ib-reg-mr-failed", _CUDA_FAILURE, _NO_CALL)
def is_expandable_segment(event: Event, view: View) -> bool | None:
    """Did the card, or CUDA's IPC, reject memory of PyTorch's expandable segments? None if not known.

    They are mapped by CUDA's virtual memory management, not allocated by cudaMalloc.
    """
    if event.event == _NO_CALL:
        return True
    if event.event == _CUDA_FAILURE:
        if re.search(_EXPORT, event.text) is None:
            return False
    elif error_name(event, view) not in {"EFAULT", "EINVAL", "EIO", "EOPNOTSUPP", None}:
        return False
    allocator = [s for s in view.job.settings if s.name in _ALLOCATOR_SETTINGS and s.text is not None]
    for setting in allocator:
        view.note(setting)
        if re.search(_EXPANDABLE, setting.text or ""):
            return True
    return False if allocator else None


@derived
def exports_memory(event: Event, view: View) -> bool:
    """Was memory to be exported to other processes of the host, not registered with a card?"""
    return event.event in {_CUDA_FAILURE, _NO_CALL}
