"""Pods that the scheduler of Kubernetes gives no node, as its events report them."""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived, derived_of
from ncdiag.facts.model import Event
from ncdiag.facts.view import View

_POD = lazy_regex(r"\bpod/([a-z0-9][\w.-]{0,252})")


@derived
def refused_pod(event: Event, view: View) -> str:
    """The pod that no node takes, ``pod worker-1``; ``a pod`` where the line names none."""
    found = _POD.search(event.text)
    if found is None:
        return "a pod"
    name = found[1]
    return f"pod {name}"


@derived
def no_node_because(event: Event, view: View) -> str:
    """The scheduler's reason without what it says on preemption: ``8 Insufficient nvidia.com/gpu``."""
    return str(event.fields.get("detail") or "").partition(" preemption:")[0].rstrip(". ")


@derived_of("pod-unschedulable")
def is_scheduled_after_all(event: Event, view: View) -> bool:
    """Did a node take this pod in the end? Where either line names no pod, any pod counts."""
    own = _POD.search(event.text)
    for other in view.job.events:
        taken = str(other.fields.get("pod_name") or "").rpartition("/")[2]
        if other.event == "pod-scheduled" and (own is None or not taken or taken == own[1]):
            view.note(other)
            return True
    return False
