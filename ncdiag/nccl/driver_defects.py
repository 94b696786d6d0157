"""Defects of single releases of the NVIDIA driver, from its release notes.

Each applies to one branch of the driver, from its first release up to the one that fixes it, where a sign was seen.
"""

from __future__ import annotations

import re

import msgspec

from ncdiag.facts.scalars import Version
from ncdiag.nccl.defects import HOPPER


class DriverDefect(msgspec.Struct, frozen=True, kw_only=True):
    """One defect: releases of the branch ``fixed.major`` before ``fixed``.

    One of its signs must have been seen: an Xid in the kernel log, or ``NS`` between GPUs in ``nvidia-smi topo -p2p``.
    """

    fixed: Version
    printed: str
    what: str
    gpus: re.Pattern[str] | None = None
    xid: int | None = None
    peers_unsupported: bool = False
    source: str


DRIVER_DEFECTS = (
    DriverDefect(
        fixed=Version(525, 105, 17), printed="525.105.17", xid=119,
        what="lets calls of the GPU's system processor (GSP) run into timeouts",
        source="NVIDIA Data Center GPU Driver 525 release notes, version 525.105.17, fixed issues",
    ),
    DriverDefect(
        fixed=Version(535, 183, 6), printed="535.183.06", gpus=HOPPER, peers_unsupported=True,
        what="denies peer access between GPUs behind NVSwitches although the fabric is up",
        source="NVIDIA Data Center GPU Driver 535 release notes, version 535.183.06, issue 4547730",
    ),
)  # fmt: skip
