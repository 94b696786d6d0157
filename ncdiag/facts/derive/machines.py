"""Kernel settings, limits and modules of a host that slow a job down or end it."""

from __future__ import annotations

from ncdiag.facts.derive.cuda import PRINTED
from ncdiag.facts.model import Event, Host
from ncdiag.facts.view import View, derived_of

_MEMORY_XIDS = frozenset({94, 171, 172})
_REPAIR_XIDS = frozenset({63, 92})
_MEMORY_LOST = frozenset({48, 64, 65, 95, 140})
_LOST = frozenset({"gpu-fell-off-bus", "gpu-init-failed", "gpu-handle-missing"})
_OFF_THE_BUS = 79


def sysctl(host: Host, name: str) -> str | None:
    """The text of a kernel setting of the host; None when it was not shown."""
    return (host.sysctls or {}).get(name)


@derived_of("gpu-xid", "cuda-memory-error", *PRINTED)
def is_memory_error(event: Event, view: View) -> bool:
    """A memory error that the GPU confined or repaired, unless another Xid says that its memory failed for good."""
    if event.event in PRINTED:
        found = view.get(event, "cuda_error") == "cudaErrorECCUncorrectable"
    else:
        found = event.fields.get("xid") in _MEMORY_XIDS if event.event == "gpu-xid" else "ECC" in event.text
    return found and not any(e.event == "gpu-xid" and e.fields.get("xid") in _MEMORY_LOST for e in view.job.events)


@derived_of("gpu-xid")
def is_repair(event: Event, view: View) -> bool:
    """Does an Xid note that memory is taken out of use, or that errors were corrected, and no more?"""
    return event.fields.get("xid") in _REPAIR_XIDS and not any(
        e.event == "gpu-xid" and e.fields.get("xid") in _MEMORY_XIDS | _MEMORY_LOST for e in view.job.events
    )


@derived_of(*_LOST)
def is_lost_gpu(event: Event, view: View) -> bool:
    """A GPU that left the bus or did not start, unless an Xid 79 tells the same."""
    return not any(e.event == "gpu-xid" and e.fields.get("xid") == _OFF_THE_BUS for e in view.job.events)
