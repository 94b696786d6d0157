"""The truths of show_gids specimens, from the merged facts."""

from __future__ import annotations

from typing import Any

from ncdiag.facts.model import Gid, Job

VERSIONS = {"IB": "v1", "RoCE v1": "v1", "RoCE v2": "v2"}


def truths(job: Job) -> dict[str, Any]:
    """The entries, how many the tool counts (None where it was cut off), and the useful ones of each device."""
    hcas = [hca for host in job.hosts for hca in host.hcas]
    ports = [port for hca in hcas for port in hca.ports]
    gids = [gid for port in ports for gid in port.gids]
    best: dict[str, list[int]] = {hca.name: [] for hca in hcas}
    for gid in gids:
        if gid.type == "RoCE v2" and gid.ip is not None:
            best[gid.hca].append(gid.index)
    counts = [host.gid_count for host in job.hosts if host.gid_count is not None]
    counted = bool(counts) or any(port.gids_complete for port in ports)
    return {
        "rows": [_row(gid) for gid in gids],
        "n_gids_found": (sum(counts) or len(gids)) if counted else None,
        "best_rocev2_ipv4": best,
    }


def _row(gid: Gid) -> dict[str, Any]:
    version = VERSIONS.get(gid.type or "")
    return {
        "device": gid.hca,
        "port": gid.port,
        "index": gid.index,
        "version": version,
        "netdev": gid.netdev,
        "ipv4": gid.ip,
    }
