"""What is wrong with the NVIDIA driver of a host, by faults of its release and their signs."""

from __future__ import annotations

from ncdiag.facts.model import Host
from ncdiag.facts.scalars import Version
from ncdiag.facts.view import View, derived
from ncdiag.nccl.driver_defects import DRIVER_DEFECTS, DriverDefect

_XID = "gpu-xid"
_UNSUPPORTED = "NS"


@derived
def driver_defect(host: Host, view: View) -> str | None:
    """``Driver 525.85.12 lets ...``: a known fault of the release with a sign of it; empty for none.

    None when there is a sign of one and the driver, or the GPU, is not known.
    """
    told = next((gpu for gpu in host.gpus if gpu.driver), None)
    text = host.driver or (told.driver if told is not None else None)
    version = Version.parse(text) if text else None
    signed = [defect for defect in DRIVER_DEFECTS if _has_sign(defect, host, view)]
    for defect in signed:
        if version is None or _has_gpu(defect, host, view) is None:
            return None
        if version.major == defect.fixed.major and version < defect.fixed and _has_gpu(defect, host, view):
            view.note(host if host.driver else told, "driver")
            return f"Driver {text} of {host.name} {defect.what} (mended in {defect.printed})"
    return ""


@derived
def has_driver_defect(host: Host, view: View) -> bool | None:
    """Is there such a fault?"""
    found = view.get(host, "driver_defect")
    return None if found is None else bool(found)


def _has_sign(defect: DriverDefect, host: Host, view: View) -> bool:
    if defect.xid is not None:
        event = next((e for e in view.events_on(host.name, [_XID]) if e.fields.get("xid") == defect.xid), None)
        if event is not None:
            view.note(event)
            return True
    pairs = [link for link in host.links if view.get(link, "is_gpu_pair")] if defect.peers_unsupported else []
    denied = next((link for link in pairs if _UNSUPPORTED in {link.p2p_read, link.p2p_write, link.p2p_status}), None)
    if denied is not None:
        view.note(denied)
    return denied is not None


def _has_gpu(defect: DriverDefect, host: Host, view: View) -> bool | None:
    if defect.gpus is None:
        return True
    models = [gpu for gpu in host.gpus if gpu.model]
    mine = next((gpu for gpu in models if defect.gpus.search(gpu.model or "")), None)
    if mine is not None:
        view.note(mine, "model")
    return mine is not None if models else None
