"""Truths of nvidia_smi_L specimens from the merged facts."""

from __future__ import annotations

from typing import Any

from ncdiag.facts.model import Job


def truths(job: Job) -> dict[str, Any]:
    """How many GPUs and which models."""
    gpus = [g for h in job.hosts for g in h.gpus]
    return {"ngpus": len(gpus), "models": sorted({g.model for g in gpus if g.model})}
