"""Completions and asynchronous events of verbs that show which side refused or failed."""

from __future__ import annotations

from ncdiag.facts.derived import derived, derived_of
from ncdiag.facts.model import Event, Job
from ncdiag.facts.view import View

_FATAL = ("async fatal event", "Got async event")
_RECOVERS = frozenset({
    "port error", "port active", "client reregistration", "SM change", "LID change", "P_Key change", "GID table change",
})  # fmt: skip


@derived_of("ib-async-event")
def is_fatal_async(event: Event, view: View) -> bool:
    """Did an asynchronous verbs event report that the device, queue pair or queue is lost?

    Up to 2.22 all events have one wording (``Got async event``); those that ports recover from do not count.
    """
    if _FATAL[0] in event.text:
        return True
    return _FATAL[1] in event.text and event.fields.get("what") not in _RECOVERS


_REFUSALS = frozenset({9, 10, 11})
"""Completion statuses of verbs (enum ibv_wc_status): retries exceeded, and refused by the peer."""
_VIOLATIONS = frozenset({"local access violation work queue error", "invalid request local work queue error"})
"""IBV_EVENT_QP_ACCESS_ERR and _REQ_ERR in rdma-core's words, on the responder (NVIDIA RDMA Aware Programming)."""


@derived_of("ib-completion-error", "ib-async-event")
def is_refusal(event: Event, view: View) -> bool:
    """Did one end of a queue pair refuse a request of the other? Reported by either end."""
    if event.event == "ib-completion-error":
        return event.fields.get("status") in _REFUSALS
    return event.fields.get("what") in _VIOLATIONS


@derived
def refuser(event: Event, view: View) -> str:
    """The host that reports that it refused."""
    return event.host or "A host"


@derived
def asker(event: Event, view: View) -> str:
    """The rank whose request was refused, ``rank 3 on n1``, as far as it is known."""
    host = refuser(event, view)
    return f"rank {event.rank} on {host}" if event.rank is not None else host


@derived
def uses_infiniband(job: Job, view: View) -> bool | None:
    """Do ranks use RDMA ports of link layer InfiniBand, by their lists, else by the ports of the hosts?"""
    listed = {d.link_layer for rank in job.ranks for d in rank.net_devices or ()} - {None}
    ports = {port.link_layer for host in job.hosts for hca in host.hcas for port in hca.ports} - {None}
    if listed:
        return "IB" in listed
    return "InfiniBand" in ports if ports else None


@derived
def lacks_nvshmem_transport(job: Job, view: View) -> bool:
    """Did a transport of NVSHMEM not start, or find no usable device?"""
    found = next((e for e in job.events if e.event in {"nvshmem-transport-failed", "rdma-no-device"}), None)
    if found is not None:
        view.note(found)
    return found is not None
