"""NVLinks and NVSwitches of a host: whether they are there, whether as many are active as should be."""

from __future__ import annotations

from ncdiag.facts.model import Host, TopoLink
from ncdiag.facts.view import View, derived

_MOST_LINKS = 18
"""NVLinks of a GPU, through Blackwell. More to all others together: a switch joins them, so that the same links count
for each."""
_BRIDGED = 12
"""NVLinks that bridges make between two cards (A100 PCIe, H100 NVL); an A100 on an NVSwitch has as many."""
_BOARD = 8
"""SXM modules of a host from which they are on NVSwitches."""


def gpu_pairs(host: Host) -> list[TopoLink]:
    """The pairs of GPUs of the host whose level ``nvidia-smi topo -m`` shows."""
    return [link for link in host.links if link.a.startswith("GPU") and link.b.startswith("GPU") and link.level]


@derived
def has_nvswitch(host: Host, view: View) -> bool | None:
    """True if NVSwitches of this host join its GPUs.

    By the switch on the PCI bus, links that are too many for a mesh or bridges, or a whole board of SXM modules. Not
    those of a rack (GB200), which other machines serve. None where a pair has as many links as bridges make.
    """
    if any(view.get(gpu, "is_of_rack") for gpu in host.gpus):
        return False
    if any("NVSwitch" in (device.description or "") for device in host.pci):
        return True
    modules = [view.get(gpu, "is_module") for gpu in host.gpus]
    counts = _links_of_gpus(host)
    if any(sum(links) > _MOST_LINKS for links in counts.values()) or modules.count(True) >= _BOARD:
        return True
    most = max((count for links in counts.values() for count in links), default=0)
    if most >= _BRIDGED and False not in modules:
        return True if most >= _MOST_LINKS or True in modules else None
    return False if counts or "lspci" in host.complete else None


def _links_of_gpus(host: Host) -> dict[str, list[int]]:
    """NVLinks to each other GPU, by GPU, as ``nvidia-smi topo -m`` counts them."""
    found: dict[str, list[int]] = {}
    for link in gpu_pairs(host):
        for name in (link.a, link.b):
            found.setdefault(name, []).append(link.nvlink_count or 0)
    return found
