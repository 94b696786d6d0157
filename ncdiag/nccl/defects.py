"""Defects of single NCCL releases, from its release notes (the messages of its tags) and from several reports.

A defect applies where all conditions of its entry are known to hold. If a condition is unknown for a host, so is the
defect.
"""

from __future__ import annotations

import re

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.scalars import Version


class Defect(msgspec.Struct, frozen=True, kw_only=True):
    """One defect: the releases from ``since`` up to, but not including, ``fixed``.

    On certain GPU models or with a setting.

    ``events``: one of them must have been seen; without a condition on GPU, setting or link, only they show the defect.
    ``avoided_by``: variables with which the release does not meet the defect.
    """

    since: Version
    fixed: Version
    what: str
    gpus: re.Pattern[str] | None = None
    setting: tuple[str, str] | None = None
    links_down: bool = False
    events: frozenset[str] = frozenset()
    avoided_by: tuple[tuple[str, str], ...] = ()
    source: str


BLACKWELL_120 = lazy_regex(r"\bRTX (?:50[5-9]0|PRO [2-6]\d00)\b")
"""GPUs of compute capability 12.0 (developer.nvidia.com/cuda-gpus)."""
HOPPER = lazy_regex(r"\bH(?:100|200|800|20)\b|\bGH200\b")
BLACKWELL_100 = lazy_regex(r"\bG?B(?:100|200|300)\b")

DEFECTS = (
    Defect(
        since=Version(2, 25, 0), fixed=Version(2, 26, 2), gpus=BLACKWELL_120,
        what="asks for more shared memory than these GPUs have, so that its kernels fail",
        source="NVIDIA/nccl v2.26.2-1 release notes, issue 1637, nccl-tests issues 287 and 291",
    ),
    Defect(
        since=Version(2, 26, 2), fixed=Version(2, 27, 0), gpus=BLACKWELL_120,
        what="stops with an illegal memory access on these GPUs from messages of half a MiB on",
        source="NVIDIA/nccl issue 2418, pytorch/pytorch issue 152780",
    ),
    Defect(
        since=Version(2, 13, 0), fixed=Version(2, 17, 0), setting=("CUDA_LAUNCH_BLOCKING", "1"),
        what="hangs with CUDA_LAUNCH_BLOCKING=1: it gives its network thread work only when the kernel is done",
        source="NVIDIA/nccl issue 750, pytorch/pytorch pull request 97843",
    ),
    Defect(
        since=Version(2, 0, 0), fixed=Version(2, 12, 7), links_down=True,
        what="may corrupt data while some NVLinks are down", avoided_by=(("NCCL_PROTO", "^LL128"),),
        source="NVIDIA/nccl v2.12.7-1 release notes",
    ),
    Defect(
        since=Version(2, 0, 0), fixed=Version(2, 15, 5), gpus=HOPPER, events=frozenset({"torch-watchdog-timeout"}),
        what="may hang on two of these GPUs with Ring and LL128", avoided_by=(("NCCL_PROTO", "^LL128"),),
        source="NVIDIA/nccl v2.15.5-1 release notes",
    ),
)  # fmt: skip

FIRST_FOR_GPU = (
    (HOPPER, Version(2, 15, 1)), (BLACKWELL_100, Version(2, 25, 1)), (BLACKWELL_120, Version(2, 25, 1)),
)  # fmt: skip
"""The first release that is built for an architecture (makefiles/common.mk: compute_90, compute_100, compute_120)."""
