"""What a scheduler refuses for now and grants later, and nodes and pods that the job does not need."""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived_of
from ncdiag.facts.model import Event
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.out_of_service import NODE_OUT, is_beside_the_job

_STEP, _LISTED, _ATTACHED = "progress-step", "pod-listed", "k8s-network-attached"
_HAS_NODES = ("slurm-job-runs", "slurm-job-completed", _STEP)
_NETWORK = "k8s-network-not-attached"
_NOT_STARTED = (
    _NETWORK, "k8s-image-not-pulled", "k8s-volume-not-mounted", "k8s-container-not-created", "k8s-devices-not-prepared",
)  # fmt: skip
_GRANTED = {
    "pod-unschedulable": ("pod-scheduled",), "pod-queue-waits": ("pod-admitted",),
    "slurm-step-waits": ("slurm-step-created", _STEP), "slurm-job-waits": _HAS_NODES, NODE_OUT: _HAS_NODES,
    **dict.fromkeys(_NOT_STARTED, (_LISTED, _ATTACHED)),
}  # fmt: skip
"""The event of a refusal, and those by which it is granted."""
REFUSED = frozenset(_GRANTED)
_NAME = r"([a-z0-9][\w.-]{0,252})"
_POD = lazy_regex(rf'\bpod/{_NAME}|\bpod "{_NAME}"|\[[a-z0-9-]{{1,63}}/{_NAME}/[\w-]{{1,40}}:')
"""The pod of a line: ``pod/train-0``, ``for pod "train-0"``, ``[ml/train-0/11c2:rail1]`` of Multus."""
_NAMED = lazy_regex(r'\bto network "([^"]{1,100})"')
_SYSTEM = lazy_regex(r"\bkube-(?:system|public|node-lease)\b")


@derived_of(*_GRANTED)
def is_granted_after_all(event: Event, view: View) -> bool:
    """Did the scheduler or the node give what it had refused? Where one of two lines names no pod, any pod counts.

    Steps of a program count if they come later. A node that is not one of the job's refuses it nothing, and pods of the
    cluster itself are not those of a job.
    """
    if event.event == NODE_OUT and is_beside_the_job(event, view):
        return True
    if event.event in _NOT_STARTED and _SYSTEM.search(event.text):
        return True
    for other in view.job.events:
        if other.event in _GRANTED[event.event] and _grants(other, event):
            view.note(other)
            return True
    return False


def _grants(other: Event, event: Event) -> bool:
    own, taken = _pod(event), str(other.fields.get("pod_name") or "").rpartition("/")[2]
    if other.event == _STEP:
        return other.order > event.order
    if other.event == _LISTED:
        return other.fields.get("pod_status") == "Running" and taken in {own, event.host}
    if other.event == _ATTACHED:
        return event.event == _NETWORK and other.order > event.order and _is_of(other, event, own)
    return not own or not taken or taken == own


def _pod(event: Event) -> str:
    found = _POD.search(event.text)
    return next(filter(None, found.groups()), "") if found is not None else ""


def _is_of(attached: Event, event: Event, pod: str) -> bool:
    """Is it the network that could not be attached, in the same pod? Another network of the pod proves nothing."""
    named, name = _NAMED.search(event.text), str(attached.fields.get("network_name") or "").rpartition("/")[2]
    return named is not None and named[1].rpartition("/")[2] == name and _pod(attached) in {"", pod}
