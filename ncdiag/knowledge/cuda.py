"""GPUs that failed or were repaired, by their Xids."""

from __future__ import annotations

import re

from ncdiag.facts.derived import derived, derived_of
from ncdiag.facts.model import Event, Job
from ncdiag.facts.view import View
from ncdiag.messages.vocabulary.cuda_errors import MEMORY_LOST, MEMORY_XIDS, PRINTED, is_nvlink_error

_FATAL_XIDS = frozenset({
    46, 48, 56, 57, 58, 62, 64, 65, 69, 73, 74, 79, 80, 81, 95, 119, 120, 140, 143,
})  # fmt: skip
_NVLINK5_XIDS = frozenset(range(144, 151))
"""Errors of the NVLinks of Blackwell: each line says whether it is ``Fatal`` or ``Nonfatal``."""
_CALLED_FATAL = re.compile(r"(?<![Nn]on[- ])\bFatal\b")
_GSP_XIDS = frozenset({119, 120})
"""After which the driver prints its last calls as well (kernel_gsp.c, kgspLogRpcDebugInfo)."""


@derived_of("gpu-xid", "gpu-gsp-history", "cuda-nvlink-error", *PRINTED)
def is_fatal_gpu_failure(event: Event, view: View) -> bool:
    """Was a GPU given up: an Xid that needs a reset, a system processor that does not answer, a lost NVLink?"""
    if not event.event.startswith("gpu-"):
        return bool(is_nvlink_error(event, view))
    if event.event == "gpu-xid":
        xid = event.fields.get("xid")
        return xid in _FATAL_XIDS or (xid in _NVLINK5_XIDS and _CALLED_FATAL.search(event.text) is not None)
    told = {e.fields.get("xid") for e in view.events_on(event.host, ["gpu-xid"])}
    return not told & _GSP_XIDS


@derived
def on_its_host(event: Event, view: View) -> str:
    """`` on n2``; nothing where the host is not known."""
    return f" on {event.host}" if event.host else ""


@derived
def has_several_ranks(job: Job, view: View) -> bool | None:
    """Are there several ranks, by the log or by the line that starts them? None when neither says."""
    if job.nranks is not None:
        return job.nranks > 1
    counts = [count for launch in job.launches for count in (launch.np, launch.nproc_per_node) if count is not None]
    return max(counts) > 1 if counts else None


_REPAIR_XIDS = frozenset({63, 92})
_LOST = frozenset({"gpu-fell-off-bus", "gpu-init-failed", "gpu-handle-missing"})
_OFF_THE_BUS = 79


@derived_of("gpu-xid")
def is_repair(event: Event, view: View) -> bool:
    """Does an Xid note that memory is taken out of use, or that errors were corrected, and no more?"""
    return event.fields.get("xid") in _REPAIR_XIDS and not any(
        e.event == "gpu-xid" and e.fields.get("xid") in MEMORY_XIDS | MEMORY_LOST for e in view.job.events
    )


@derived_of(*_LOST)
def is_lost_gpu(event: Event, view: View) -> bool:
    """A GPU that left the bus or did not start, unless an Xid 79 tells the same."""
    return not any(e.event == "gpu-xid" and e.fields.get("xid") == _OFF_THE_BUS for e in view.job.events)
