"""Which names lint looks at: those of NCCL and its neighbours, and those that were probably meant to be."""

from __future__ import annotations

import functools
import re

from ncdiag.nccl import environment
from ncdiag.nccl.spelling import distance
from ncdiag.parsers._shell import is_kept, is_secret

NEAR = 2
_SHAPE = re.compile(r"[A-Za-z_]\w{2,100}$")
_LONG = 16
"""Characters from which on a name may be two edits from the one that was meant."""
_LIKE_NCCL = re.compile(r"([A-Z]{3,5})_[A-Z]")
_A_CCL = re.compile(r"[A-Z]?CCL$")
"""The collective libraries of others: RCCL, HCCL, MCCL, TCCL, CCL. Their variables look like NCCL's."""
_FAMILIES = ("HCCL_", "HOROVOD_", "TORCH_NCCL_", "LIGHT_", "RCCL_", "GLOO_", "NVSHMEM_", "FI_EFA_")
"""Prefixes of other programs whose names are known well enough to tell a misspelt one."""


def is_setting(name: str) -> bool:
    """Whether lint has anything to say of variables with this name. Secrets never are looked at."""
    if not _SHAPE.match(name) or is_secret(name):
        return False
    return is_kept(name) or name in environment.variables() or _meant(name) is not None


def suggestions(name: str) -> list[str]:
    """The names that were probably meant, best first; empty for names that exist or resemble nothing."""
    if name in environment.variables():
        return []
    if name in environment.table().misspelt:
        return environment.suggest(name)
    if name.startswith("NCCL_"):
        allowed = 1 if len(name) < _LONG else NEAR
        return [other for other in environment.suggest(name) if distance(name, other, allowed) is not None]
    meant = _meant(name)
    return [meant] if meant else []


@functools.lru_cache(4096)
def _meant(name: str) -> str | None:
    """The variable that a name outside of the known families stands for: ``NCLL_DEBUG``, ``nccl_debug``."""
    upper = name.upper()
    if name != upper:
        return upper if upper in environment.variables() and upper.startswith("NCCL_") else None
    like = _LIKE_NCCL.match(name)
    if like and not _A_CCL.match(like[1]) and distance(like[1], "NCCL", 1) is not None:
        return _nearest(name, "NCCL_")
    family = next((prefix for prefix in _FAMILIES if name.startswith(prefix)), None)
    return _nearest(name, family) if family and name not in environment.variables() else None


def _nearest(name: str, prefix: str) -> str | None:
    found = []
    for other in environment.variables():
        edits = distance(name, other, NEAR) if other.startswith(prefix) else None
        if edits is not None:
            found.append((edits, other))
    return min(found)[1] if found else None
