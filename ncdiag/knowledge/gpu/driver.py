"""Why the GPU driver of a host is not loaded, from its devices and modules, and what kernel and programs print."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Event, Host
from ncdiag.facts.model.declared import is_closed
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.pci import LENT, is_nvidia_gpu

_MODULES = r"nvidia(?:[-_](?:current|legacy|uvm|modeset|drm|\d{2,3}(?:xx)?|server|open))*(?:\.ko)?"
"""Names of the driver's kernel modules, with those that distributions number; not nvidia_peermem."""
_OF_MODULE = {
    "module-unsigned": "unsigned", "module-symbol": "unfit", "module-insert-failed": "unfit",
    "module-not-found": "not-built", "dkms-module-not-built": "not-built",
}  # fmt: skip
_OF_DRIVER = {
    "gpu-module-not-built": "not-built", "gpu-held-by-other-driver": "held", "gpu-not-of-driver": "unsupported",
    "gpu-driver-absent": "absent", "gpu-module-in-use": "in-use", "gpu-firmware-missing": "no-firmware",
}  # fmt: skip
_HEADERS = "kernel-headers-not-found"
"""Why the driver was not built; alone it says only that a package is missing."""
_REASONS = ("unsigned", "not-built", "unsupported", "held", "unfit", "no-firmware", "in-use", "absent")
"""What keeps the driver from being loaded; the more exact first."""
_NOT_LOADED = frozenset({"unsigned", "not-built", "unfit"})
"""The reasons that cannot be true if the kernel lists the module as loaded."""


@derived
def gpus_without_driver(host: Host, view: View) -> tuple[str, ...] | None:
    """Bus ids of GPUs without a driver on a host that has not loaded NVIDIA's; None where that is unknown.

    GPUs assigned to a virtual machine are left out, and those of nouveau, which another rule covers.
    """
    there = [device for device in host.pci if is_nvidia_gpu(device) and device.driver not in LENT]
    if not there or host.driver is not None or host.gpus:
        return () if there or is_closed(host, "pci") else None
    names = {module.name for module in host.modules}
    if names & {"nvidia", "nouveau"}:
        return ()
    if not is_closed(host, "modules") and "nvidia" not in (host.absent_modules or ()):
        if not host.looked_at:
            return None
        there = [device for device in there if device.driver is None]
    for device in there:
        view.note(device)
    return tuple(device.bus_id for device in there)


@derived
def driver_fault(host: Host, view: View) -> str | None:
    """Why the host has no GPU driver; empty if it has one, None if nothing shows either.

    ``unsigned``: Secure Boot refuses the module. ``not-built``, ``unfit``: the kernel has none, or one for another
    kernel. ``unsupported``: the GPU is not of this driver. ``held``: another driver has the GPU. ``in-use``: the
    loaded one cannot be replaced. ``no-firmware``: its firmware is missing. ``absent``: a program did not find it.
    ``unloaded``: GPUs are on the PCI bus, and its module is not loaded.
    """
    if host.gpus:
        return ""
    found = dict(_told(host, view))
    reason = next((reason for reason in _REASONS if reason in found), None)
    loaded = next((module for module in host.modules if module.name == "nvidia"), None)
    if loaded is not None and reason in _NOT_LOADED:
        view.note(loaded)
        return ""  # the line is about another kernel, or another module
    if reason is not None:
        view.note(found[reason])
        return reason
    bare = gpus_without_driver(host, view)
    return None if bare is None else "unloaded" if bare else ""


def _told(host: Host, view: View) -> Iterator[tuple[str, Event]]:
    """Each reason that a line gives, and the line. A module that somebody could not unload is loaded: no reason."""
    found = False
    for event in reversed(view.events_on(host.name, [*_OF_MODULE, *_OF_DRIVER])):
        if event.event in _OF_DRIVER and event.kind != "fact":
            found = True
            yield _OF_DRIVER[event.event], event
        elif event.event in _OF_MODULE and re.fullmatch(_MODULES, _module(event)):
            found = True
            yield _OF_MODULE[event.event], event
    if found:
        yield from (("not-built", event) for event in view.events_on(host.name, [_HEADERS]))


def _module(event: Event) -> str:
    """The name of the module without the release that DKMS appends; ``nvidia`` if the line names none."""
    return str(event.fields.get("module", "nvidia")).partition("/")[0]


_SENTENCES = {
    "unsigned": "Secure Boot refuses the GPU driver, whose module is not signed with a key that the machine knows",
    "not-built": "The GPU driver was not built for the running kernel",
    "unfit": "The kernel refuses the module of the GPU driver, which was built for another kernel or is incomplete",
    "unsupported": "The installed driver does not support this GPU",
    "held": "Another driver holds the GPU",
    "no-firmware": "The GPU driver does not find the firmware of its release",
    "in-use": "The GPU driver cannot be replaced: programs still use the loaded one",
    "absent": "The GPU driver is not loaded",
    "unloaded": "The NVIDIA GPUs on the PCI bus have no driver",
}


@derived
def driver_fault_text(host: Host, view: View) -> str:
    """The reason as a sentence: ``Secure Boot refuses the GPU driver, ...``."""
    return _SENTENCES.get(driver_fault(host, view) or "", "")
