"""PCIe address translation (ATS) of cards that are passed through to a virtual machine.

Source: NVIDIA AI Enterprise, Optimizing VM Configuration for AI Inference, appendix: with ATS a card asks the IOMMU for
an address once, and then reaches the GPU below the same switch; without, all its traffic goes through the IOMMU.
"""

from __future__ import annotations

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Host, PciDevice
from ncdiag.facts.view import View

_CARDS = ("Mellanox", "ConnectX", "BlueField")
_SHOWN = 4


@derived
def cards_without_ats(host: Host, view: View) -> str | None:
    """NVIDIA's network cards with ATS off, by lspci or by their firmware; empty for none, None if nothing shows it."""
    if not host.ats_settings and all(device.ats is None for device in host.pci):
        return None
    shown = [device for device in host.pci if device.ats is False and _is_card(device)]
    stored = [name for name, value in (host.ats_settings or {}).items() if value == "False"]
    for device in shown:
        view.note(device, "ats")
    if stored:
        view.note(host, "ats_settings")
    names = list(dict.fromkeys([*(device.bus_id for device in shown), *stored]))
    return ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")


@derived
def has_ats(host: Host, view: View) -> bool:
    """Is ATS on in the network cards of the host, as far as they were shown?"""
    on = [device for device in host.pci if device.ats and _is_card(device)]
    return (bool(on) or "True" in (host.ats_settings or {}).values()) and not cards_without_ats(host, view)


def _is_card(device: PciDevice) -> bool:
    return any(word in (device.description or "") for word in _CARDS)
