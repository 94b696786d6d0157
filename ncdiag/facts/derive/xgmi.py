"""AMD's GPUs that stand in a mesh: pairs whose xGMI link is missing, and what a part of the mesh can reach.

Sources: AMD Instinct MI300X, MI325X and MI355X platform data sheets (eight GPUs, a link between each two of them).
"""

from __future__ import annotations

import re

from ncdiag.facts.model import Gpu, Host, TopoLink
from ncdiag.facts.view import View, derived

_MESHED = (
    (re.compile(r"\bMI3(?:00X|08X|25X)"), 64.0),
    (re.compile(r"\bMI35[05]X"), 76.8),
)
"""Models of which eight are joined each to each, and what one link carries in one direction, in GB/s."""
MESH_SIZE = 8


def link_gbs(gpu: Gpu) -> float | None:
    """What one xGMI link of the GPU carries in one direction, in GB/s; None for models without a mesh."""
    return next((rate for pattern, rate in _MESHED if pattern.search(gpu.model or "")), None)


def _kind(link: TopoLink) -> str | None:
    return link.link_type or (link.level if link.level in {"XGMI", "PCIE"} else None)


@derived
def xgmi_gap(host: Host, view: View) -> str | None:
    """``GPU2 and GPU5``: pairs of a mesh that only PCIe joins, while xGMI joins others; empty for none.

    None when the models or the links are not told. Where no pair has xGMI, the table speaks of another machine.
    """
    models = [gpu for gpu in host.gpus if gpu.model]
    pairs = [link for link in host.links if view.get(link, "is_gpu_pair") and _kind(link)]
    if not models or not pairs:
        return None
    if not all(map(link_gbs, models)) or len(host.gpus) > MESH_SIZE:  # more: GPUs that are partitioned
        return ""
    without = [link for link in pairs if _kind(link) == "PCIE"]
    if len(without) == len(pairs):
        return ""
    for link in without[:2]:
        view.note(link)
    view.note(models[0], "model")
    return ", ".join(f"{link.a} and {link.b}" for link in without)
