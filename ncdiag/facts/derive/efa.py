"""Elastic Fabric Adapters: is there one, and does the job's traffic go over it?"""

from __future__ import annotations

from ncdiag.facts.model import Job
from ncdiag.facts.view import View, derived

_OFI_EVENTS = ("ofi-", "efa-")


@derived
def uses_ofi(job: Job, view: View) -> bool:
    """Does the OFI plugin or libfabric speak in this job, whatever became of it?"""
    return any(name.startswith(_OFI_EVENTS) for name in view.event_names())
