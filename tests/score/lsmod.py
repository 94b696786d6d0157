"""Truths of lsmod specimens from the merged facts."""

from __future__ import annotations

from typing import Any

from ncdiag.facts.model import Job
from ncdiag.facts.view import View
from ncdiag.knowledge.gdr.decisions import peermem_loaded

_PEERMEM = {"nvidia_peermem", "nv_peer_mem"}
_LISTED = 12
"""The truths list the first twelve modules of a listing."""


def truths(job: Job) -> dict[str, Any]:
    """The modules with size and use count, and whether a peer memory module is loaded and registered with ib_core."""
    host = next((host for host in job.hosts if host.modules or host.absent_modules is not None), None)
    if host is None:
        return {}
    ordered = sorted(host.modules, key=lambda m: m.provenance[""].line)
    return {
        "nmodules": len(host.modules),
        "modules": {m.name: {"size": m.size, "used": m.used_by} for m in ordered[:_LISTED]},
        "peermem_loaded": peermem_loaded(host, View(job)),
        "ib_core_uses_peermem": any(_PEERMEM & set(m.users or ()) for m in ordered if m.name == "ib_core"),
    }
