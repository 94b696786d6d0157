"""AMD's GPUs that stand in a mesh: pairs whose xGMI link is missing, and what a part of the mesh can reach.

Sources: AMD Instinct MI300X, MI325X and MI355X platform data sheets (eight GPUs, a link between each two of them).
"""

from __future__ import annotations

import re

from ncdiag.facts.model import Gpu

_MESHED = (
    (re.compile(r"\bMI3(?:00X|08X|25X)"), 64.0),
    (re.compile(r"\bMI35[05]X"), 76.8),
)
"""Models of which eight are joined each to each, and what one link carries in one direction, in GB/s."""
MESH_SIZE = 8


def link_gbs(gpu: Gpu) -> float | None:
    """What one xGMI link of the GPU carries in one direction, in GB/s; None for models without a mesh."""
    return next((rate for pattern, rate in _MESHED if pattern.search(gpu.model or "")), None)
