"""The class of an Xid or SXid in the kernel log, and what it requires (`ncdiag.nccl.xids`)."""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived, derived_of
from ncdiag.facts.model import Event
from ncdiag.facts.view import View
from ncdiag.nccl import xids
from ncdiag.nccl.xids import Xid

XID, SXID = "gpu-xid", "nvswitch-sxid"
BY_PLUGIN = "k8s-device-unhealthy"
"""The device plugin of Kubernetes repeats the Xid, with the UUID of the GPU in place of its address."""
_CALLED_FATAL = lazy_regex(r"(?<![Nn]on[- ])\bFatal\b")
_WANTED = lazy_regex(r" to 0x[0-9a-fA-F]{1,4} \(([^()]{1,40})\)")
"""``GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)``: gpu.c of the open kernel modules."""
_NOTHING = "None"
_NOT_FATAL = ("non-fatal", "nonfatal")


def of(event: Event) -> Xid | None:
    """The table entry for its number; None for other events and for numbers that NVIDIA does not document."""
    return xids.xid(event.fields.get("xid")) if event.event == XID else None


@derived
def wanted_recovery(event: Event, view: View) -> str:
    """The action that the driver requests for the GPU (Xid 154), ``Node Reboot Required``; empty for none."""
    found = _WANTED.search(event.text) if (known := of(event)) is not None and known.fault == "advice" else None
    return found[1] if found is not None and found[1] != _NOTHING else ""


def is_unfit(event: Event, view: View) -> bool:
    """Is it an Xid after which the GPU must be reset, or more? By its number, for some numbers by its line."""
    known = of(event)
    if known is None:
        return False
    if known.fault == "advice":
        return bool(wanted_recovery(event, view)) and _is_last_word(event, view)
    if known.remedy == "worded":
        return _CALLED_FATAL.search(event.text) is not None
    return known.remedy in {"reset", "reboot", "update", "wiring"}


def _is_last_word(advice: Event, view: View) -> bool:
    """Is this the last advice for this GPU, and does no other Xid of it explain the fault?"""
    same = [e for e in view.events_on(advice.host, [XID]) if e.fields.get("pci") == advice.fields.get("pci")]
    others = [e for e in same if (known := of(e)) is not None and known.fault != "advice"]
    later = [e for e in same if e.order > advice.order and e.fields.get("xid") == advice.fields.get("xid")]
    return not later and not any(is_unfit(e, view) or is_memory_xid(e) for e in others)


def is_memory_xid(event: Event) -> bool:
    """Is it an Xid for a memory error that ended a program?"""
    known = of(event)
    return known is not None and known.fault == "memory" and known.remedy != "none"


def is_contained_by_plugin(event: Event) -> bool:
    """Does the device plugin of Kubernetes repeat an Xid of a memory error after which the GPU still works?"""
    known = xids.xid(event.fields.get("xid")) if event.event == BY_PLUGIN else None
    return known is not None and known.fault == "memory" and known.remedy == "restart"


def memory_xids(view: View) -> list[Event]:
    """The Xids of the job for memory errors that ended a program."""
    return view.remembered(("Xids of memory",), lambda: [e for e in view.job.events if is_memory_xid(e)])


@derived_of(XID)
def is_link_xid(event: Event, view: View) -> bool:
    """Is this an Xid about NVLink, fatal or not?"""
    known = of(event)
    return known is not None and known.fault == "nvlink"


@derived_of(SXID)
def is_fatal_sxid(event: Event, view: View) -> bool:
    """Is this an SXid of an NVSwitch that is fatal: by its line, else by its number?

    NVIDIA/open-gpu-kernel-modules 580, src/common/nvswitch/kernel/inc/error_nvswitch.h: ``Fatal, Link 08 ...``. Further
    lines of it contain its severity and registers.
    """
    said = str(event.fields.get("detail", "")).lower()
    if said.startswith(("fatal", *_NOT_FATAL)):
        return said.startswith("fatal")
    return xids.reach(event.fields.get("sxid")) in {"fatal", "fabric"}
