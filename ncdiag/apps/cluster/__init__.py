"""Many hosts at once: parse their names, reach them, collect their answers, and check what a launch needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncdiag.base.faces import exported

if TYPE_CHECKING:
    from ncdiag.apps.cluster import launching
    from ncdiag.apps.cluster.model import Wish
    from ncdiag.apps.cluster.probing import Trial, probe
    from ncdiag.apps.cluster.sweep import sweep_hosts

__all__ = [
    "Trial", "Wish", "launching", "probe", "sweep_hosts",
]  # fmt: skip
__getattr__ = exported(
    __name__,
    {
        "": ("launching",),
        "model": ("Wish",),
        "probing": ("Trial", "probe"),
        "sweep": ("sweep_hosts",),
    },
)
