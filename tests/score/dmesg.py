"""The truths of kernel logs, from the merged facts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from ncdiag.facts.model import Event, Job
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.failures import at_device

PEERMEM_CAUSE = "OFED/peer-memory symbol mismatch"
"""The truths' own word for the event peermem-symbol."""


def truths(job: Job) -> dict[str, Any]:
    return {
        "xids": [{"pci": e.fields.get("pci"), "xid": e.fields.get("xid")} for e in _all(job, "gpu-xid")],
        "peermem_errors": len([*_all(job, "peermem-symbol"), *_all(job, "gpu-p2p-callback")]),
        "segfault_in_nccl": len(list(_all(job, "segfault-in-nccl"))),
        "fallen_off_bus": [
            e.fields.get("pci") or at_device(e, View(job)).strip(" ()") for e in _all(job, "gpu-fell-off-bus")
        ],
        "mlx5_link_events": [
            {"dev": e.fields["hca"], "port": e.fields["port"], "state": e.fields["link_state"]}
            for e in _all(job, "hca-link")
        ],
        "lost_carrier": dict(Counter(str(e.fields["interface"]) for e in _all(job, "carrier-lost"))),
        "gained_carrier": dict(Counter(str(e.fields["interface"]) for e in _all(job, "carrier-gained"))),
        "driver": next((e.fields["driver"] for e in _all(job, "nvidia-driver-loaded")), None),
        "cause": PEERMEM_CAUSE if any(_all(job, "peermem-symbol")) else None,
    }


def _all(job: Job, name: str) -> Iterator[Event]:
    """Each event as often as it was seen."""
    for event in job.events:
        if event.event == name:
            yield from [event] * event.count
