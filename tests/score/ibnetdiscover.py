"""The truths of ibnetdiscover outputs, from the merged facts."""

from __future__ import annotations

from typing import Any

from ncdiag.facts.model import Job


def truths(job: Job) -> dict[str, Any]:
    kinds = [node.kind for fabric in job.fabrics for node in fabric.nodes]
    return {"switches": kinds.count("switch"), "cas": kinds.count("ca")}
