"""NVLinks that repair errors all the time."""

from __future__ import annotations

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Host
from ncdiag.facts.view import View
from ncdiag.knowledge.nvlink import link_error_counts

_MANY = {"recovery": 10, "crc": 1000, "replay": 1000}
"""Errors from which on a link is no longer one that had a bad moment. Each recovery stops it for a while."""


@derived
def gpus_with_failing_links(host: Host, view: View) -> str | None:
    """GPUs whose NVLinks repaired far more errors than those of the others, ``GPU 3 (crc 52116, recovery 328)``.

    Empty for none, and where most GPUs have as many: then their counters have run for long. None if not known.
    """
    known = [gpu for gpu in host.gpus if gpu.nvlink_errors is not None]
    if not known:
        return None
    bad = [gpu for gpu in known if any((gpu.nvlink_errors or {}).get(kind, 0) >= n for kind, n in _MANY.items())]
    if len(bad) * 2 > max(len(known), 2):
        return ""
    return ", ".join(f"GPU {gpu.index} ({link_error_counts(gpu, view)})" for gpu in bad)
