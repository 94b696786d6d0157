"""The contiguous memory area (CMA) of the kernel, from which drivers of integrated systems take their buffers."""

from __future__ import annotations

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Host
from ncdiag.facts.view import View

_BUSY = -16
_LEFT = 1 / 16
"""The free share of the area below which there is hardly room for a large buffer."""


@derived
def cma_used_up(host: Host, view: View) -> bool | None:
    """Did the contiguous area refuse a buffer, and is almost none of it free? None if one of the two is not shown.

    The kernel also reports a refusal if the driver then uses other memory, so that the line alone proves nothing. EBUSY
    does not count: there was room, but its pages could not be moved away, and a larger area need not help.
    """
    if not host.cma_bytes or host.cma_free_bytes is None:
        return None
    if host.cma_free_bytes > host.cma_bytes * _LEFT:
        return False
    for event in view.events_on(host.name, ["cma-alloc-failed"]):
        if event.fields.get("kernel_error") != _BUSY:
            view.note(event)
            view.note(host, "cma_free_bytes")
            return True
    return None
