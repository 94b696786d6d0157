"""All that files under /sys, /proc and /dev tell, under any root: the list of readers and how a failure is told.

The readers stand in ``sysfs_rdma``, ``sysfs_net``, ``sysfs_pci`` and ``sysfs_host``; each is a function of a `Tree`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ncdiag.facts.observe import Observation
from ncdiag.sources import sysfs_host, sysfs_net, sysfs_pci, sysfs_rdma
from ncdiag.sources.tree import Tree

Reader = Callable[[Tree], Iterable[Observation]]

READERS: dict[str, Reader] = {
    "RDMA devices": sysfs_rdma.rdma,
    "routes": sysfs_net.routes,
    "PCI devices": sysfs_pci.pci,
    "loaded kernel modules": sysfs_host.modules,
    "peer memory clients": sysfs_host.peer_memory,
    "resource limits": sysfs_host.limits,
    "kernel command line and sysctls": sysfs_host.kernel,
    "NVIDIA driver": sysfs_host.driver,
    "IOMMU": sysfs_host.iommu,
    "container, virtual machine and cloud": sysfs_host.surroundings,
    "RDMA device files": sysfs_host.infiniband_devices,
    "size of /dev/shm": sysfs_host.shared_memory,
}
"""Readers by what they find out. Interfaces are read with their addresses, see `ncdiag.sources.sockets`."""

EXPECTED = {
    "interfaces": ("network interfaces and their addresses", "sys/class/net"),
    "sysfs_infiniband": ("RDMA devices", "sys/class/infiniband"),
    "routes": ("routes", "proc/net/route"),
    "sysfs_pci": ("PCI devices", "sys/bus/pci/devices"),
    "lsmod": ("loaded kernel modules", "proc/modules"),
    "ulimit": ("resource limits", "proc/self/limits"),
    "df_shm": ("size of /dev/shm", "dev/shm"),
}
"""Collections that a reading should see whole (``Host.complete``): what each is called and where it stands."""


def complete(observations: Iterable[Observation]) -> set[str]:
    """The section kinds that observations say were seen whole."""
    return {kind for o in observations if o.entity == "Host" for kind in o.fields.get("complete", ())}


def missing(tree: Tree, observations: Iterable[Observation]) -> dict[str, str]:
    """What was expected and not seen whole, with the reason; by section kind."""
    seen = complete(observations)
    return {kind: _reason(tree, path) for kind, (_, path) in EXPECTED.items() if kind not in seen}


def _reason(tree: Tree, path: str) -> str:
    place = tree.place(path)
    if path in tree.refused:
        return f"{place}: {tree.refused[path]}"
    return f"{place} was not readable as a whole" if tree.exists(path) else f"{place} does not exist"
