"""Devices that the Windows Subsystem for Linux hides."""

from __future__ import annotations

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Host
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.failures import pci_paths_missing


@derived
def hides_pci_devices(host: Host, view: View) -> bool | None:
    """Did NCCL find no PCI bus folder in /sys, or is the host WSL, which has none?

    None where neither was shown, nor a rank that got past the search for PCI devices.
    """
    if host.in_wsl:
        view.note(host, "in_wsl")
    if host.in_wsl or pci_paths_missing(host, view):
        return True
    past = any(rank.state == "ready" or rank.transports for rank in view.ranks_on(host.name))
    return False if past or host.in_wsl is False else None
