"""Truths of df_shm specimens from the merged facts."""

from __future__ import annotations

from typing import Any

from ncdiag.facts.model import Job

_SMALL = 1 << 30
"""Below this NCCL between eight GPUs has run out of room in the field."""
_WORDS = 5
"""Size, used, available, share and path end a row."""


def truths(job: Job) -> dict[str, Any]:
    """The row of /dev/shm as printed, which its evidence holds."""
    mount = next((m for h in job.hosts for m in h.mounts if m.path == "/dev/shm"), None)  # noqa: S108
    if mount is None:
        return {}
    words = mount.provenance[""].text.split()
    row = dict(zip(("size", "used", "avail", "pct"), words[-_WORDS:], strict=False)) if len(words) >= _WORDS else {}
    return {
        "dev_shm": {"fs": mount.filesystem, **row},
        "too_small": mount.size_bytes < _SMALL if mount.size_bytes is not None else None,
    }
