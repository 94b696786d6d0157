"""The truths of bonding specimens, from the merged facts."""

from __future__ import annotations

from typing import Any

from ncdiag.facts.model import Job

WORDS = {True: "up", False: "down", None: None}


def truths(job: Job) -> dict[str, Any]:
    interfaces = [interface for host in job.hosts for interface in host.interfaces]
    bond = next((interface for interface in interfaces if interface.bond_mode), None)
    if bond is None:
        return {}
    running = {interface.name: interface.running for interface in interfaces}
    slaves = list(bond.slaves or ())
    return {"mode": bond.bond_mode, "slaves": slaves, "mii": [WORDS[running[name]] for name in [bond.name, *slaves]]}
