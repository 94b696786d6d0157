"""torchrun's c10d rendezvous, in which each host decides for itself whether it hosts the store."""

from __future__ import annotations

import re

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Launch
from ncdiag.facts.view import View

_C10D = r"--rdzv[-_]backend[= ]['\"]?c10d\b"
_TOLD_HOST = r"--rdzv[-_]conf[= ]['\"]?[\w=,]{0,200}\bis_host="
_ANY = frozenset({"0.0.0.0", "::", "[::]"})  # noqa: S104  (read, not bound)
_SERVICE = r"(?i)(?![a-z0-9-]+-\d+\.)[a-z0-9.-]+\.svc(?:\..*)?"
"""The name of a Kubernetes service; that of a pod of a headless service comes before it and ends in a number."""
_UNMET = frozenset({"torch-rdzv-store-lost", "c10d-connect-timeout", "c10d-connect-failed"})


@derived
def has_foreign_endpoint(launch: Launch, view: View) -> bool:
    """Is the endpoint of a c10d rendezvous one that no host recognises as its own, nor is configured to host?

    The name of a service counts where the store is not reached; a headless one with a single pod has the pod's address.
    """
    if not re.search(_C10D, launch.text) or re.search(_TOLD_HOST, launch.text):
        return False
    host = rdzv_host(launch, view)
    if host in _ANY:
        return True
    failed = next((event for event in view.job.events if event.event in _UNMET), None)
    if failed is None:
        return False
    view.note(failed)
    return re.fullmatch(_SERVICE, host) is not None


@derived
def rdzv_host(launch: Launch, view: View) -> str:
    """The host name of the rendezvous endpoint; empty where the line names none."""
    return launch.master_addr or ""
