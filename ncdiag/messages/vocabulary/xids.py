"""What an Xid or SXid of the kernel's log calls for: its class, whatever its number (`ncdiag.nccl.xids`)."""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived, derived_of
from ncdiag.facts.model import Event
from ncdiag.facts.view import View
from ncdiag.nccl import xids
from ncdiag.nccl.xids import Xid

XID, SXID = "gpu-xid", "nvswitch-sxid"
_CALLED_FATAL = lazy_regex(r"(?<![Nn]on[- ])\bFatal\b")
_WANTED = lazy_regex(r" to 0x[0-9a-fA-F]{1,4} \(([^()]{1,40})\)")
"""``GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)``: gpu.c of the open kernel modules."""
_NOTHING = "None"
_NOT_FATAL = ("non-fatal", "nonfatal")


def of(event: Event) -> Xid | None:
    """The entry of its number; None for other events and for numbers that NVIDIA does not document."""
    return xids.xid(event.fields.get("xid")) if event.event == XID else None


@derived
def wanted_recovery(event: Event, view: View) -> str:
    """What the driver says that the GPU needs (Xid 154): ``Node Reboot Required``; empty for nothing."""
    found = _WANTED.search(event.text) if (known := of(event)) is not None and known.fault == "advice" else None
    return found[1] if found is not None and found[1] != _NOTHING else ""


def is_unfit(event: Event, view: View) -> bool:
    """True for an Xid after which the GPU has to be reset, or more: by its number, of some by its line."""
    known = of(event)
    if known is None:
        return False
    if known.fault == "advice":
        return bool(wanted_recovery(event, view)) and _is_last_word(event, view)
    if known.remedy == "worded":
        return _CALLED_FATAL.search(event.text) is not None
    return known.remedy in {"reset", "reboot", "update", "wiring"}


def _is_last_word(advice: Event, view: View) -> bool:
    """Is it the last advice for this GPU, and no other Xid of it tells what is wrong?"""
    same = [e for e in view.events_on(advice.host, [XID]) if e.fields.get("pci") == advice.fields.get("pci")]
    others = [e for e in same if (known := of(e)) is not None and known.fault != "advice"]
    later = [e for e in same if e.order > advice.order and e.fields.get("xid") == advice.fields.get("xid")]
    return not later and not any(is_unfit(e, view) or is_memory_xid(e) for e in others)


def is_memory_xid(event: Event) -> bool:
    """True for an Xid that tells of a memory error which ended a program."""
    known = of(event)
    return known is not None and known.fault == "memory" and known.remedy != "none"


def is_memory_lost(event: Event, view: View) -> bool:
    """True for an Xid that tells that the memory of the GPU failed for good."""
    return is_memory_xid(event) and is_unfit(event, view)


@derived_of(XID)
def is_link_xid(event: Event, view: View) -> bool:
    """Does an Xid tell of NVLink, whether fatal or not?"""
    known = of(event)
    return known is not None and known.fault == "nvlink"


@derived_of(SXID)
def is_fatal_sxid(event: Event, view: View) -> bool:
    """An SXid of an NVSwitch that its line calls fatal, or where that says neither, its number.

    NVIDIA/open-gpu-kernel-modules 580, src/common/nvswitch/kernel/inc/error_nvswitch.h: ``Fatal, Link 08 ...``.
    Further lines of it hold its severity and registers.
    """
    said = str(event.fields.get("detail", "")).lower()
    if said.startswith(("fatal", *_NOT_FATAL)):
        return said.startswith("fatal")
    return xids.reach(event.fields.get("sxid")) in {"fatal", "fabric"}
