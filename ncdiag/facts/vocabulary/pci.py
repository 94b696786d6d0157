"""The kind of a PCI function: a GPU, an RDMA card, or a function assigned to a virtual machine."""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.model import Host, PciDevice

_NVIDIA = "10de"
_GPU_CLASSES = frozenset({"3D controller", "VGA compatible controller"})
_SERVER_GPU = "3D controller"
_AMD = lazy_regex(r"(?:VGA compatible|Display) controller.*\b(?:AMD|ATI)\b|Processing accelerators.*\bAMD\b")
LENT = frozenset({"vfio-pci", "pci-stub", "xen-pciback", "pciback"})
"""Drivers of functions that are assigned to a virtual machine; the module xen-pciback calls its driver pciback."""


def is_nvidia_gpu(device: PciDevice) -> bool:
    """Is it an NVIDIA GPU: by vendor and class, by lspci's description, or by its driver?

    A 3D controller of unknown vendor counts: servers have no others of that class.
    """
    words, vendor = device.description or "", (device.ids or "").partition(":")[0]
    if device.physical_function is not None:
        return False
    if words:
        return "NVIDIA" in words and any(kind in words for kind in _GPU_CLASSES)
    if device.device_class not in _GPU_CLASSES:
        return False
    return vendor == _NVIDIA or device.driver == "nvidia" or (not vendor and device.device_class == _SERVER_GPU)


def is_amd_gpu(device: PciDevice) -> bool:
    """Is it a GPU of AMD, by lspci's description?"""
    return _AMD.search(device.description or "") is not None


def is_rdma_card(device: PciDevice, host: Host) -> bool:
    """Does the function carry an RDMA device of the host, and is it not a virtual function?"""
    return device.physical_function is None and any(hca.bus_id == device.bus_id for hca in host.hcas)
