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

    None when one may be there: the driver, the GPU or where its sign would stand was not shown.
    """
    told = next((gpu for gpu in host.gpus if gpu.driver), None)
    text = host.driver or (told.driver if told is not None else None)
    version = Version.parse(text) if text else None
    verdicts = [(defect, _applies(defect, version, host, view)) for defect in DRIVER_DEFECTS]
    for defect, applies in verdicts:
        if applies:
            view.note(host if host.driver else told, "driver")
            return f"Driver {text} of {host.name} {defect.what} (mended in {defect.printed})"
    return None if any(applies is None for _, applies in verdicts) else ""


def _applies(defect: DriverDefect, version: Version | None, host: Host, view: View) -> bool | None:
    """Kleene's and over the release, the sign and the GPU."""
    affected = None if version is None else version.major == defect.fixed.major and version < defect.fixed
    parts = [affected]
    for tell in (_has_sign, _has_gpu):
        if False in parts:
            return False
        parts.append(tell(defect, host, view))
    return False if False in parts else None if None in parts else True


def _has_sign(defect: DriverDefect, host: Host, view: View) -> bool | None:
    signs = []
    if defect.xid is not None:
        signs.append(_has_xid(defect.xid, host, view))
    if defect.peers_unsupported:
        signs.append(_denies_peers(host, view))
    return True if True in signs else None if None in signs else False


def _has_xid(xid: int, host: Host, view: View) -> bool | None:
    """None where the kernel's log was not shown."""
    event = next((e for e in view.events_on(host.name, [_XID]) if e.fields.get("xid") == xid), None)
    if event is not None:
        view.note(event)
        return True
    return False if view.get(host, "shows_kernel_log") else None


def _denies_peers(host: Host, view: View) -> bool | None:
    """None where nothing shows which GPUs reach each other."""
    pairs = [link for link in host.links if view.get(link, "is_gpu_pair")]
    states = [{link.p2p_read, link.p2p_write, link.p2p_status} - {None} for link in pairs]
    denied = next((link for link, told in zip(pairs, states, strict=True) if _UNSUPPORTED in told), None)
    if denied is not None:
        view.note(denied)
        return True
    return False if any(states) else None


def _has_gpu(defect: DriverDefect, host: Host, view: View) -> bool | None:
    if defect.gpus is None:
        return True
    models = [gpu for gpu in host.gpus if gpu.model]
    mine = next((gpu for gpu in models if defect.gpus.search(gpu.model or "")), None)
    if mine is not None:
        view.note(mine, "model")
    return mine is not None if models else None
