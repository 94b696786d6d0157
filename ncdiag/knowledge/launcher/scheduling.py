"""Pods that the scheduler of Kubernetes gives no node, as its events report them."""

from __future__ import annotations

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Event
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.pod_rows import POD_NAME


@derived
def refused_pod(event: Event, view: View) -> str:
    """The pod that no node takes, ``pod worker-1``; ``a pod`` where the line names none."""
    found = POD_NAME.search(event.text)
    if found is None:
        return "a pod"
    name = found[1]
    return f"pod {name}"


@derived
def no_node_because(event: Event, view: View) -> str:
    """The scheduler's reason without what it says on preemption: ``8 Insufficient nvidia.com/gpu``."""
    return str(event.fields.get("detail") or "").partition(" preemption:")[0].rstrip(". ")
