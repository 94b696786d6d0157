"""Truths of topo_m specimens from the merged facts."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from ncdiag.facts.model import Host, Job

_HEADER = re.compile(r"\W*(?:\[\d{1,2}m)?GPU\d+\s+(?:\|\s+)?(?:[A-Za-z]+[\w.]*\d|CPU|NUMA|$)")
"""A line of labels, not a row of cells."""
_ORDER = ("NV", "PIX", "PXB", "PHB", "NODE", "SOC", "SYS")


def truths(job: Job) -> dict[str, Any]:
    """Counts, labels, the closest NICs and the affinities, as printed."""
    host = next((h for h in job.hosts if h.links or h.gpus), None)
    if host is None:
        return {}
    labels = host.nic_labels or {}
    with_row = [g for g in host.gpus if g.cpu_affinity is not None]
    named = host.provenance.get("nic_labels", host.provenance.get(""))
    return {
        "header_present": named is not None and _HEADER.match(named.text) is not None,
        "ngpus": len(host.gpus),
        "nnics": len(labels),
        "nic_labels": list(labels),
        "nic_legend": {label: hca for label, hca in labels.items() if hca is not None and hca != label},
        "gpu_pair_link_counts": Counter(link.level for link in host.links if _is_gpu(link.a) and _is_gpu(link.b)),
        "closest_nic": _closest(host, list(labels)),
        "cpu_affinity": {f"GPU{g.index}": g.cpu_affinity for g in with_row},
        "numa_affinity": {f"GPU{g.index}": g.numa_affinity for g in with_row},
        "nvlink_islands": _islands(host),
    }


def _is_gpu(label: str) -> bool:
    return label.startswith("GPU")


def _rank(level: str) -> int:
    return next(i for i, name in enumerate(_ORDER) if level.startswith(name))


def _closest(host: Host, labels: list[str]) -> dict[str, Any]:
    seen: dict[str, dict[str, str]] = {}
    for link in host.links:
        if link.level and not (_is_gpu(link.a) and _is_gpu(link.b)):
            gpu, nic = (link.a, link.b) if _is_gpu(link.a) else (link.b, link.a)
            seen.setdefault(gpu, {})[nic] = link.level
    result = {}
    for gpu, levels in seen.items():
        best = min(levels.values(), key=_rank)
        result[gpu] = {"best": best, "nics": [label for label in labels if levels.get(label) == best]}
    return result


def _islands(host: Host) -> list[list[int]]:
    groups = [{int(f"{g.index}")} for g in host.gpus]
    for link in host.links:
        if link.level and link.level.startswith("NV"):
            a, b = (next(g for g in groups if int(label[3:]) in g) for label in (link.a, link.b))
            if a is not b:
                groups.remove(b)
                a |= b
    return sorted(sorted(group) for group in groups)
