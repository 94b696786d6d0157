"""Facts of a host that several tool outputs tell together: peer memory, /dev/shm, locked memory, ACS."""

from __future__ import annotations

from ncdiag.facts.model import Host, TopoLink
from ncdiag.facts.view import View, derived


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
