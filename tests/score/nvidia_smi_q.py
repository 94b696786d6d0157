"""The truths of `nvidia-smi -q` outputs, from the merged facts."""

from __future__ import annotations

from typing import Any

from ncdiag.facts.model import Job


def truths(job: Job) -> dict[str, Any]:
    """The head: when nvidia-smi looked, and how many GPUs it counts (which need not all be listed)."""
    host = next((host for host in job.hosts if host.gpus_queried or host.gpus), None)
    if host is None:
        return {}
    attached = host.gpus_attached
    return {"timestamp": host.gpus_queried, "attached_gpus": str(attached) if attached is not None else None}
