"""The truths of `nvidia-smi -q` outputs, from the merged facts."""

from __future__ import annotations

from typing import Any

from ncdiag.facts.model import Job


def truths(job: Job) -> dict[str, Any]:
    """The count is that of the GPUs read, which must be that of the head."""
    if len(job.hosts) != 1:
        return {}
    host = job.hosts[0]
    agree = len(host.gpus) == host.gpus_attached
    return {"timestamp": host.gpus_queried, "attached_gpus": str(len(host.gpus)) if agree else None}
