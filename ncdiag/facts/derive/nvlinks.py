"""NVLinks and NVSwitches of a host: whether they are there, whether as many are active as should be."""

from __future__ import annotations

from ncdiag.facts.derive.gpu_models import module_of
from ncdiag.facts.model import Gpu, Host, TopoLink
from ncdiag.facts.view import View, derived

_MOST_LINKS = 18
"""NVLinks of a GPU, through Blackwell. More to all others together: a switch joins them, so that the same links count
for each."""
_BRIDGED = 12
"""NVLinks that bridges make between two cards (A100 PCIe, H100 NVL); an A100 on an NVSwitch has as many."""
_BOARD = 8
"""SXM modules of a host from which they are on NVSwitches."""
_FEW_LINKS = 4
"""NVLinks of the siblings from which a GPU without any stands out."""


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


@derived
def active_nvlinks(gpu: Gpu, view: View) -> int | None:
    """Its active NVLinks, as listed or, on NVSwitches, as many as join it to any other GPU; None when not known."""
    if gpu.nvlinks is not None:
        view.note(gpu, "nvlinks")
        return gpu.nvlinks
    host = view.host(gpu.host)
    if host is None or gpu.index is None or not view.get(host, "has_nvswitch"):
        return None
    mine = [link for link in gpu_pairs(host) if f"GPU{gpu.index}" in {link.a, link.b}]
    for link in mine[:1]:
        view.note(link)
    return max((link.nvlink_count or 0 for link in mine), default=None)


@derived
def expected_nvlinks(gpu: Gpu, view: View) -> int | None:
    """The NVLinks that it should have: as its siblings have, or that are listed of a module, or of its model.

    A card without any, or a GPU without any beside others that have few, has no bridge: nothing is expected of it.
    """
    host = view.host(gpu.host)
    active: int | None = view.get(gpu, "active_nvlinks")
    if host is None or active is None:
        return None
    alike: list[int] = [view.get(other, "active_nvlinks") or 0 for other in host.gpus if other.model == gpu.model]
    most = max(alike)
    usual = view.get(gpu, "is_module") is not False and most >= _FEW_LINKS and alike.count(most) > len(host.gpus) / 2
    expected = most if active or usual else 0
    module = module_of(gpu)
    if module is None or not active:
        return expected
    listed = active + (gpu.nvlinks_inactive or 0) if gpu.nvlinks is not None else module.links
    return max(expected, listed)


@derived
def lacks_nvlinks(gpu: Gpu, view: View) -> bool | None:
    """True if it has fewer active NVLinks than it should; None where all are alike and their model is not known."""
    active, expected = view.get(gpu, "active_nvlinks"), view.get(gpu, "expected_nvlinks")
    if active is None or expected is None:
        return None
    return None if active == expected and gpu.nvlinks is None and gpu.model is None else bool(active < expected)


@derived
def lost_nvlink(host: Host, view: View) -> str | None:
    """Why no NVLink joins SXM modules, which have nothing else; empty where one does, None when it cannot be told.

    A module that is alone, or cut into MIG instances, may do without; cards, for which this is empty, always.
    """
    if {view.get(gpu, "is_module") for gpu in host.gpus} == {False}:
        return ""
    modules = [gpu for gpu in host.gpus if view.get(gpu, "is_module") and not gpu.mig]
    if len(modules) < 2:  # noqa: PLR2004  (a pair)
        return None
    told = [gpu for gpu in modules if gpu.nvlinks is not None]
    if len(told) > 1:
        view.note(told[0], "nvlinks")
        return "" if any(gpu.nvlinks for gpu in told) else f"all NVLinks of its {len(told)} GPUs are inactive"
    pairs = gpu_pairs(host)
    for link in pairs[:1]:
        view.note(link)
    if not pairs:
        return None
    joined = any((link.level or "").startswith("NV") for link in pairs)
    return "" if joined else f"its GPUs see each other over {'/'.join(sorted({p.level or '' for p in pairs}))}"


@derived
def refused_pairs(host: Host, view: View) -> str | None:
    """``GPU0 and GPU3``: pairs on NVLink between which the driver offers no peer access; empty for none.

    None when no output shows peer access, or none shows how the GPUs between which it is refused are joined.
    """
    answers = [(link, view.get(link, "lacks_peer_access")) for link in host.links]
    if all(lacks is None for _, lacks in answers):
        return None
    on_switch, bare = view.get(host, "has_nvswitch"), view.get(host, "lacks_nvlink")
    refused = [link for link, lacks in answers if lacks]
    bad = [link for link in refused if link.nvlink_count or on_switch]
    if not bad and on_switch is None and not bare and any(link.level is None for link in refused):
        return None
    for link in bad[:3]:
        view.note(link)
    return "; ".join(f"{link.a} and {link.b}" for link in bad[:3]) + (" and others" if len(bad) > 3 else "")  # noqa: PLR2004
