"""torchrun's c10d rendezvous, in which each host decides for itself whether it hosts the store."""

from __future__ import annotations

import re

from ncdiag.facts.derived import derived, derived_of
from ncdiag.facts.model import Event, Job, Launch
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.addresses import STORE_UNREACHED
from ncdiag.facts.vocabulary.late_hosts import late_seconds

_C10D = r"--rdzv[-_]backend[= ]['\"]?c10d\b"
_TOLD_HOST = r"--rdzv[-_]conf[= ]['\"]?[\w=,]{0,200}\bis_host="
_ANY = frozenset({"0.0.0.0", "::", "[::]"})  # noqa: S104  (read, not bound)
_SERVICE = r"(?i)(?![a-z0-9-]+-\d+\.)[a-z0-9.-]+\.svc(?:\..*)?"
"""The name of a Kubernetes service; that of a pod of a headless service comes before it and ends in a number."""
_SOON = 300
"""Seconds after which the others, which wait for 600 by default, may have ceased to wait."""
_UNMET = STORE_UNREACHED | {"torch-rdzv-store-lost"}


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


@derived_of("torch-store-timeout")
def is_incomplete_rendezvous(event: Event, view: View) -> bool:
    """Did a host reach the rendezvous and wait there in vain? The store itself has other errors."""
    return "RendezvousTimeoutError" in event.text


@derived
def store_overcounted(job: Job, view: View) -> bool:
    """Did more processes count themselves in PyTorch's store than the job has? The rest are of another job or run."""
    for event in job.events:
        joined, expected = event.fields.get("joined"), event.fields.get("expected", event.fields.get("world_size"))
        if event.event == "torch-store-timeout" and isinstance(joined, int) and isinstance(expected, int):
            view.note(event)
            if joined > expected:
                return True
    return False


@derived
def awaited_hosts(event: Event, view: View) -> int | None:
    """The number of hosts that torchrun waits for, by its command or its own log; None where neither shows one."""
    launch = _awaiting(view)
    if launch is not None:
        return launch.nnodes
    counts = {each.fields.get("min_hosts") for each in view.job.events if each.event == "elastic-hosts-awaited"}
    count = counts.pop() if len(counts) == 1 else None
    return count if isinstance(count, int) else None


@derived
def is_late(event: Event, view: View) -> bool:
    """Did the image of a pod take so long that its host came after the others had ceased to wait?"""
    return late_seconds(view.job, view) >= _SOON


@derived
def late_by(event: Event, view: View) -> int:
    """The seconds for which an image was pulled (`late_seconds`)."""
    return late_seconds(view.job, view)


@derived
def awaited_at(event: Event, view: View) -> str:
    """Where they meet, `` at n1:29400``; empty where the command does not say."""
    launch = _awaiting(view)
    if launch is None or not launch.master_addr:
        return ""
    view.note(launch)
    return f" at {launch.master_addr}" + (f":{launch.master_port}" if launch.master_port else "")


def _awaiting(view: View) -> Launch | None:
    return next((launch for launch in view.job.launches if launch.nnodes), None)


@derived
def rdzv_host(launch: Launch, view: View) -> str:
    """The host name of the rendezvous endpoint; empty where the line names none."""
    return launch.master_addr or ""
