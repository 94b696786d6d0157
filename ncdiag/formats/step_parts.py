"""Names of the parts of a training step, and kernels that communicate."""

from __future__ import annotations

import re
from typing import Literal

from ncdiag.base.patterns import lazy_regex

Sort = Literal["data", "communication", "other"]

_DATA = lazy_regex(r"data|load|batch[-_ ]generator|input|fetch", re.IGNORECASE)
_MODEL = lazy_regex(r"checkpoint|model|optimizer", re.IGNORECASE)
_COMMUNICATION = lazy_regex(
    r"all[-_ ]?(?:reduce|gather|to[-_ ]?all)|reduce[-_ ]?scatter|grads?[-_ ](?:sync|reduce|all)|params?[-_ ]all"
    r"|comm|sync|wait|nccl|rccl|broadcast|barrier|send|recv",
    re.IGNORECASE,
)
_KERNEL = lazy_regex(r"(?:nccl|rccl|mscclpp?)[A-Z]\w{0,20}Kernel|ncclKernel|ncclDevKernel|rcclGenericKernel")


def sort_of(name: str) -> Sort:
    """What the part of a step with this name does."""
    if _DATA.search(name) and not _MODEL.search(name):
        return "data"
    return "communication" if _COMMUNICATION.search(name) else "other"


def communicates(kernel: str) -> bool:
    """True for the name of a kernel of NCCL or RCCL."""
    return _KERNEL.search(kernel) is not None
