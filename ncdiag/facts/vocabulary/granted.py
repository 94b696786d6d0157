"""What a scheduler refuses for now and grants later, and nodes and pods that the job does not need."""

from __future__ import annotations

from collections.abc import Iterator

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived, derived_of
from ncdiag.facts.model import Event, Job
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.later_steps import steps_below
from ncdiag.facts.vocabulary.out_of_service import NODE_OUT, is_asked_for, is_beside_the_job
from ncdiag.facts.vocabulary.places import place
from ncdiag.facts.vocabulary.slurm_jobs import ROWS, WAITS, has_got_nodes, jobs_of, refused_jobs, rows_of_the_job

_STEP, _LISTED, _ATTACHED = "progress-step", "pod-listed", "k8s-network-attached"
_CREATED = "slurm-step-created"
_HAS_NODES = (*ROWS, _CREATED, _STEP)
_NETWORK = "k8s-network-not-attached"
_NOT_STARTED = (
    _NETWORK, "k8s-image-not-pulled", "k8s-volume-not-mounted", "k8s-container-not-created", "k8s-devices-not-prepared",
)  # fmt: skip
_GRANTED = {
    "pod-unschedulable": ("pod-scheduled",), "pod-queue-waits": ("pod-admitted",),
    "slurm-step-waits": (_CREATED, _STEP), WAITS: _HAS_NODES, NODE_OUT: _HAS_NODES,
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
    for other in _candidates(event, view):
        if _grants(other, event, view):
            view.note(other)
            return True
    return False


@derived
def granting(job: Job, view: View) -> dict[str, list[Event]]:
    """The lines by which anything is granted, by the names of their events."""
    del view
    found: dict[str, list[Event]] = {name: [] for each in _GRANTED.values() for name in each}
    for event in job.events:
        if event.event in found:
            found[event.event].append(event)
    return found


def _candidates(event: Event, view: View) -> Iterator[Event]:
    for name in _GRANTED[event.event]:
        if name not in ROWS or event.event != NODE_OUT:
            yield from granting(view.job, view)[name]
    if event.event == NODE_OUT:
        yield from rows_of_the_job(view.job, view)


def _grants(other: Event, event: Event, view: View) -> bool:
    if other.event in ROWS:
        return has_got_nodes(event, other, view) if event.event == WAITS else _is_enough(other, event, view)
    own, taken = _pod(event), str(other.fields.get("pod_name") or "").rpartition("/")[2]
    if other.event == _STEP:
        return other.order > event.order and _is_made_after(other, event, view)
    if other.event == _CREATED and event.event in {WAITS, NODE_OUT}:
        return other.order > event.order
    if other.event == _LISTED:
        return other.fields.get("pod_status") == "Running" and taken in {own, event.host}
    if other.event == _ATTACHED:
        return event.event == _NETWORK and other.order > event.order and _is_of(other, event, own)
    return not own or not taken or taken == own


def _is_made_after(step: Event, event: Event, view: View) -> bool:
    """False for a step below that is another host's or an earlier one; in another file only the order is known."""
    at, other = place(event), place(step)
    if at is None or other is None or at[0] != other[0]:
        return True
    key = ("steps below", at, event.host, event.time)
    return id(step) in view.remembered(key, lambda: {id(each) for each in steps_below(event, at, view)})


def _is_enough(row: Event, event: Event, view: View) -> bool:
    """Does a row of squeue settle that the job needs no such node? One that it asks for by name, only by its number."""
    return not is_asked_for(event, view) or bool(refused_jobs(view.job, view) & jobs_of(row))


def _pod(event: Event) -> str:
    found = _POD.search(event.text)
    return next(filter(None, found.groups()), "") if found is not None else ""


def _is_of(attached: Event, event: Event, pod: str) -> bool:
    """Is it the network that could not be attached, in the same pod? Another network of the pod proves nothing."""
    named, name = _NAMED.search(event.text), str(attached.fields.get("network_name") or "").rpartition("/")[2]
    return named is not None and named[1].rpartition("/")[2] == name and _pod(attached) in {"", pod}
