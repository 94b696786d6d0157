"""The list of readers of files under /sys, /proc and /dev, under any root, and how a failure is reported.

The readers are in ``sysfs_rdma``, ``sysfs_net``, ``sysfs_pci``, ``sysfs_host`` and ``sysfs_system``, each a function
of a `Tree`; ``collectors.toml`` names them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module

from ncdiag.facts.observe import Observation
from ncdiag.machine.command import collectors
from ncdiag.machine.tree import Tree

Reader = Callable[[Tree], Iterable[Observation]]


def readers() -> dict[str, Reader]:
    """The readers of ``collectors.toml``, by the name of what they read."""
    found = {}
    for declared in collectors().reader:
        module, _, function = declared.read.partition(":")
        found[declared.what] = getattr(import_module(f"ncdiag.machine.{module}"), function)
    return found


EXPECTED = {
    "interfaces": ("network interfaces and their addresses", "sys/class/net"),
    "sysfs_infiniband": ("RDMA devices", "sys/class/infiniband"),
    "routes": ("routes", "proc/net/route"),
    "sysfs_pci": ("PCI devices", "sys/bus/pci/devices"),
    "lsmod": ("loaded kernel modules", "proc/modules"),
    "ulimit": ("resource limits", "proc/self/limits"),
    "df_shm": ("size of /dev/shm", "dev/shm"),
}
"""Collections that an inspection should read completely (``Host.complete``): the name of each, and its path."""


def complete(observations: Iterable[Observation]) -> set[str]:
    """The section kinds that the observations mark as complete."""
    return {kind for o in observations if o.entity == "Host" for kind in o.fields.get("complete", ())}


def missing(tree: Tree, observations: Iterable[Observation]) -> dict[str, str]:
    """Expected collections that were not read completely, with the reason; by section kind."""
    seen = complete(observations)
    return {kind: _reason(tree, path) for kind, (_, path) in EXPECTED.items() if kind not in seen}


def _reason(tree: Tree, path: str) -> str:
    place = tree.place(path)
    if path in tree.refused:
        return f"{place}: {tree.refused[path]}"
    return f"{place} could not be read completely" if tree.exists(path) else f"{place} does not exist"
