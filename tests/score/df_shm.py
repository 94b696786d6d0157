"""Truths of df_shm specimens from the merged facts."""

from __future__ import annotations

from typing import Any

from ncdiag.facts.model import Job

_SMALL = 1 << 30
"""Below this NCCL between eight GPUs has run out of room in the field."""


def truths(job: Job) -> dict[str, Any]:
    """The row of /dev/shm as printed, which its evidence holds, checked against the bytes that were read."""
    mount = next(m for h in job.hosts for m in h.mounts if m.path == "/dev/shm")  # noqa: S108
    *_, size, used, available, share, _ = mount.provenance[""].text.split()
    unit = 1024 if size.isdigit() else 1
    if size.isdigit() and mount.size_bytes != int(size) * unit:
        return {}
    return {
        "dev_shm": {"fs": mount.filesystem, "size": size, "used": used, "avail": available, "pct": share},
        "too_small": mount.size_bytes < _SMALL if mount.size_bytes is not None else None,
    }
