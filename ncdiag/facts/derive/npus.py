"""What the NPUs of all hosts have to agree on."""

from __future__ import annotations

from ncdiag.facts.model import Job
from ncdiag.facts.view import View, derived


@derived
def npu_tls_differs(job: Job, view: View) -> bool | None:
    """Is the TLS switch on for some NPUs and off for others? None when that of fewer than two was seen."""
    seen = [npu for host in job.hosts for npu in host.npus if npu.tls is not None]
    for switch in (True, False):
        for npu in [npu for npu in seen if npu.tls is switch][:1]:
            view.note(npu, "tls")
    return len({npu.tls for npu in seen}) > 1 if len(seen) > 1 else None
