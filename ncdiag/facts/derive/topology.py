"""How the GPUs of a host are joined, and which of its RDMA ports the job does without."""

from __future__ import annotations

from ncdiag.facts.derive.nvlinks import gpu_pairs
from ncdiag.facts.model import Host
from ncdiag.facts.view import View, derived


@derived
def has_nvlink(host: Host, view: View) -> bool | None:
    """Does NVLink join some GPUs? None when their links were not shown."""
    pairs = gpu_pairs(host)
    for link in pairs[:1]:
        view.note(link)
    return any((link.level or "").startswith("NV") for link in pairs) if pairs else None
