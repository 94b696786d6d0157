"""What a scheduler refuses for now and grants later: a job, a step, a pod; and nodes that are out of service."""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived_of
from ncdiag.facts.model import Event
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.out_of_service import NODE_OUT, is_beside_the_job

_STEP = "progress-step"
_HAS_NODES = ("slurm-job-runs", "slurm-job-completed", _STEP)
_GRANTED = {
    "pod-unschedulable": ("pod-scheduled",), "pod-queue-waits": ("pod-admitted",),
    "slurm-step-waits": ("slurm-step-created", _STEP), "slurm-job-waits": _HAS_NODES, NODE_OUT: _HAS_NODES,
}  # fmt: skip
"""The event of a refusal, and those by which it is granted."""
REFUSED = frozenset(_GRANTED)
_POD = lazy_regex(r"\bpod/([a-z0-9][\w.-]{0,252})")


@derived_of(*_GRANTED)
def is_granted_after_all(event: Event, view: View) -> bool:
    """Did the scheduler give what it had refused? Where one of two lines names no pod, any pod counts.

    Steps of a program count if they come later. A node that is not one of the job's refuses it nothing.
    """
    if event.event == NODE_OUT and is_beside_the_job(event, view):
        return True
    own = _POD.search(event.text)
    for other in view.job.events:
        if other.event not in _GRANTED[event.event] or (other.event == _STEP and other.order < event.order):
            continue
        taken = str(other.fields.get("pod_name") or "").rpartition("/")[2]
        if own is None or not taken or taken == own[1]:
            view.note(other)
            return True
    return False
