"""Kernel settings, limits and modules of a host that slow a job down or end it."""

from __future__ import annotations

from ncdiag.facts.derive.cuda import PRINTED
from ncdiag.facts.model import Event, Host
from ncdiag.facts.view import View, derived_of

MEMORY_XIDS = frozenset({94, 171, 172})
MEMORY_LOST = frozenset({48, 64, 65, 95, 140})


def sysctl(host: Host, name: str) -> str | None:
    """The text of a kernel setting of the host; None when it was not shown."""
    return (host.sysctls or {}).get(name)


@derived_of("gpu-xid", "cuda-memory-error", *PRINTED)
def is_memory_error(event: Event, view: View) -> bool:
    """A memory error that the GPU confined or repaired, unless another Xid says that its memory failed for good."""
    if event.event in PRINTED:
        found = view.get(event, "cuda_error") == "cudaErrorECCUncorrectable"
    else:
        found = event.fields.get("xid") in MEMORY_XIDS if event.event == "gpu-xid" else "ECC" in event.text
    return found and not any(e.event == "gpu-xid" and e.fields.get("xid") in MEMORY_LOST for e in view.job.events)
