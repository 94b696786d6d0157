"""Truths of nvlink_s specimens from the merged facts."""

from __future__ import annotations

from typing import Any

from ncdiag.facts.model import Job


def truths(job: Job) -> dict[str, Any]:
    """Links and rates of each GPU."""
    gpus = [g for h in job.hosts for g in h.gpus]
    return {
        "ngpus": len(gpus),
        "gpus": [
            {
                "gpu": g.index, "model": g.model, "links": g.nvlinks,
                "rates": [f"{rate:g}" for rate in g.nvlink_rates or ()],
                "inactive": g.nvlinks == 0,
            }
            for g in gpus
        ],
    }  # fmt: skip
