"""Facts of a host that several tool outputs tell together: peer memory, /dev/shm, locked memory, ACS."""

from __future__ import annotations

from ncdiag.facts.model import Host, Limit, TopoLink
from ncdiag.facts.view import View, derived

PEERMEM_MODULES = ("nvidia_peermem", "nv_peer_mem")
"""The module of the GPU driver and its predecessor; either lets a NIC reach GPU memory (NVIDIA GPUDirect RDMA
guide).
"""
SHM = "/dev/shm"  # noqa: S108


@derived
def peermem_loaded(host: Host, view: View) -> bool | None:
    """Is a peer memory module loaded? False only when the module list was seen whole or both are known absent.

    Of the older one it is enough that nothing is registered with the RDMA core.
    """
    for module in host.modules:
        if module.name in PEERMEM_MODULES:
            view.note(module)
            return True
    absent = set(host.absent_modules or ())
    view.note(host, "absent_modules" if absent else "complete:lsmod")
    if host.peermem_registered is False:
        absent.add(PEERMEM_MODULES[1])
    return False if "lsmod" in host.complete or absent.issuperset(PEERMEM_MODULES) else None


@derived
def memlock_bytes(host: Host, view: View) -> int | None:
    """Limit of locked memory in bytes; None when it is unlimited or unknown."""
    limit = _memlock(host)
    return limit.soft if limit else None


@derived
def memlock_unlimited(host: Host, view: View) -> bool | None:
    """Whether locked memory is unlimited."""
    limit = _memlock(host)
    return limit.unlimited if limit else None


def _memlock(host: Host) -> Limit | None:
    return next((limit for limit in host.limits if limit.name == "memlock"), None)


@derived
def nofile(host: Host, view: View) -> int | None:
    """Limit of open files; None when it is unlimited or unknown."""
    return next((limit.soft for limit in host.limits if limit.name == "nofile"), None)


@derived
def acs_bridge(host: Host, view: View) -> str | None:
    """The first PCI bridge that redirects peer traffic; None where none does or the lines name no device."""
    found = next((d for d in host.pci if d.acs_redirects and d.device_class == "PCI bridge"), None)
    if found is not None:
        view.note(found)
    return found.bus_id if found is not None else None


@derived
def has_acs_on_bridge(host: Host, view: View) -> bool | None:
    """Is there such a bridge, or such a line without its device? None while the list of devices is not whole."""
    if view.get(host, "acs_bridge") is not None:
        return True
    if host.acs_redirects:
        view.note(host, "acs_redirects")
        return True
    bridges = [d for d in host.pci if d.device_class == "PCI bridge" and d.acs_redirects is not None]
    return False if host.acs_redirects is False or bridges or "lspci" in host.complete else None


@derived
def acs_place(host: Host, view: View) -> str:
    """``bridge 0000:19:00.0``; a word where the lines name none."""
    bridge = view.get(host, "acs_bridge")
    return f"bridge {bridge}" if bridge else "a bridge"


@derived
def has_infiniband_devices(host: Host, view: View) -> bool | None:
    """Are there device files that a program can open (/dev/infiniband/uverbs*)? None when the folder was not listed."""
    names = host.infiniband_devices
    return None if names is None else any(name.startswith("uverbs") for name in names)


@derived
def is_gpu_pair(link: TopoLink, view: View) -> bool:
    """Whether the link joins two GPUs."""
    return link.a.startswith("GPU") and link.b.startswith("GPU")


@derived
def hca(link: TopoLink, view: View) -> str | None:
    """RDMA device at one end of the link: its own name, or the one that the legend of ``topo -m`` gives."""
    label = next((end for end in (link.b, link.a) if not end.startswith("GPU")), None)
    host = view.host(link.host)
    if label is None or host is None:
        return None
    return (host.nic_labels or {}).get(label)
