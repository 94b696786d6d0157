"""Truths of topo_p2p specimens from the merged facts."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ncdiag.facts.model import Job

_FIELDS = {
    "p2p_read": "r",
    "p2p_write": "w",
    "p2p_nvlink": "n",
    "p2p_atomics": "a",
    "p2p_proprietary": "p",
    "p2p_status": None,
}


def truths(job: Job) -> dict[str, Any]:
    """The matrix in both directions, the capability asked for, and whether all pairs are OK."""
    host = next(h for h in job.hosts if h.gpus)
    matrix: dict[str, dict[str, str]] = {}
    asked = None
    for link in host.links:
        for field, letter in _FIELDS.items():
            status = getattr(link, field)
            if status is not None:
                asked = letter
                matrix.setdefault(link.a, {})[link.b] = status
                matrix.setdefault(link.b, {})[link.a] = status
    counts = Counter(status for row in matrix.values() for status in row.values())
    return {
        "ngpus": len(host.gpus), "matrix": matrix, "capability": asked, "all_ok": set(counts) == {"OK"},
        "matrix_summary": ", ".join(f"{count} x {status}" for status, count in counts.items()),
    }  # fmt: skip
