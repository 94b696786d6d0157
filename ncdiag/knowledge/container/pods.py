"""Pods that ``kubectl get pods`` lists as not running: those of a job that somebody complains of, or that else runs.

The states are those of Kubernetes pkg/printers/internalversion/printers.go (printPod) and of the kubelet's containers.
"""

from __future__ import annotations

import re
from collections import defaultdict

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived, derived_of
from ncdiag.facts.model import Event, Job
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.outcome import is_open_failure, open_failures, outcome

_LISTED, _RUNNING = "pod-listed", "Running"
_PODS = 4
"""The most pods that a command or a sentence names."""
_WAITS = (
    r"Pending|SchedulingGated|ContainerCreating|PodInitializing|Init:\S*|(?:Err|Invalid)?Image\w*|CreateContainer\w*"
    r"|RunContainerError|StartError|ContainerCannotRun"
)
_PASSING = r"Pending|SchedulingGated|ContainerCreating|PodInitializing|Init:\d+/\d+"
"""States that each pod has for a while."""
_ENDED = r"CrashLoopBackOff|Error|Evicted|NodeLost|Unknown|ContainerStatusUnknown"
_DONE = frozenset({"Completed", "Succeeded"})
_PATIENCE, _START_UP = 60, 600
"""Seconds in such a state that are a trouble where somebody complains, and where nobody does."""
_RESTARTS = 3
"""Restarts that are a trouble where nobody complains: the launcher of an MPIJob ends until the workers answer."""
_TROUBLES = frozenset({"cannot-start", "fails", "fails-at-init", "hangs", "crashes"})
_REPLICA = lazy_regex(
    r"(?P<job>[\w.-]+?)(?:-(?:master|worker|chief|node|head|ps))?(?:-\d+)+(?:-[a-z0-9]{5})?|(?P<of>[\w.-]+)-launcher(?:-\w+)?"
)
_SUFFIX = lazy_regex(r"-[a-z0-9]{5}")
_SYSTEM = lazy_regex(r"\s*kube-(?:system|public|node-lease)\b")


@derived_of(_LISTED)
def waits_to_start(event: Event, view: View) -> bool:
    """Is a pod listed that was not started: no node has room, or an image, a volume or a setting is missing?"""
    return re.fullmatch(_WAITS, _state(event)) is not None and not _SYSTEM.match(event.text)


@derived
def waiting_pods(job: Job, view: View) -> str:
    """The listed pods that were not started, ``worker-1 worker-2``, at most four; empty if none is listed."""
    troubled = [event for event in troubled_pods(job, view) if waits_to_start(event, view)]
    listed = (troubled or [event for event in view.events_named(_LISTED) if waits_to_start(event, view)])[:_PODS]
    for event in listed:
        view.note(event)
    return " ".join(dict.fromkeys(map(_name, listed)))


@derived
def ended_pod(job: Job, view: View) -> str:
    """The first pod of the job whose container ended, or that was evicted; empty for none."""
    return next((_name(event) for event in troubled_pods(job, view) if not waits_to_start(event, view)), "")


@derived
def stays_down(event: Event, view: View) -> bool:
    """Is it a listed pod, or a failure that the job is not known to have recovered from?"""
    return event.event == _LISTED or is_open_failure(event, view)


def listed_trouble(event: Event, view: View) -> str:
    """``The pod train-worker-1 does not run: kubectl lists it as Pending``, for the first such pod of the job."""
    found = troubled_pods(view.job, view)
    if not found or found[0].order != event.order:
        return ""
    states = ", ".join(dict.fromkeys(map(_state, found)))
    if len(found) == 1:
        return f"The pod {_name(event)} does not run: kubectl lists it as {states}"
    for other in found[1:_PODS]:
        view.note(other)
    names = ", ".join(map(_name, found[:_PODS]))
    return f"{len(found)} pods do not run ({names}): kubectl lists them as {states}"


@derived
def troubled_pods(job: Job, view: View) -> tuple[Event, ...]:
    """The rows of the job's pods that do not run, each pod by its last row.

    Where nobody complains, others of the job must run. A pod that was replaced, one of an older job and a young one
    are in no trouble, and where anything failed, a pod that ended does not tell more.
    """
    last = {_name(event): event for event in view.events_named(_LISTED) if not _SYSTEM.match(event.text)}
    complaints = {complaint.what for complaint in job.complaints if not complaint.is_past} & _TROUBLES
    if not complaints and outcome(job, view) in {"running", "finished"}:
        return ()
    groups: dict[str, list[Event]] = defaultdict(list)
    for name, event in last.items():
        groups[_job_of(name)].append(event)
    runs = {stem for stem, events in groups.items() if stem and any(_state(each) == _RUNNING for each in events)}
    found = []
    for name, event in last.items():
        stem = _job_of(name)
        if stem in runs:
            is_own = True
        elif complaints:
            is_own = (stem != "" or not any(groups)) and (not runs or "cannot-start" in complaints)
        else:
            is_own = False
        if is_own and _is_in_trouble(event, last, view, is_told=bool(complaints)):
            found.append(event)
    return tuple(found)


def _is_in_trouble(event: Event, last: dict[str, Event], view: View, *, is_told: bool) -> bool:
    state, age = _state(event), event.fields.get("pod_age")
    if re.fullmatch(_PASSING, state):
        return age is None or int(age) >= _PATIENCE if is_told else int(age or 0) >= _START_UP
    if re.fullmatch(_WAITS, state):
        return True
    if not re.fullmatch(_ENDED, state) or open_failures(view.job, view) or _is_replaced(event, last):
        return False
    return is_told or state != "CrashLoopBackOff" or int(event.fields.get("restarts") or 0) >= _RESTARTS


def _is_replaced(event: Event, last: dict[str, Event]) -> bool:
    """Does another pod do its work, or has done it, with the same name but for the random letters at its end?"""
    name = _name(event)
    if not _SUFFIX.fullmatch(name[-6:]):
        return False
    others = (each for other, each in last.items() if other != name and len(other) == len(name))
    return any(_name(each)[:-6] == name[:-6] and _state(each) in {_RUNNING, *_DONE} for each in others)


def _job_of(name: str) -> str:
    """The job of a pod by its name, ``bert`` of ``bert-worker-1``; empty if it is no replica by its name."""
    found = _REPLICA.fullmatch(name)
    return (found["job"] or found["of"]) if found is not None else ""


def _name(event: Event) -> str:
    return str(event.fields.get("pod_name", ""))


def _state(event: Event) -> str:
    return str(event.fields.get("pod_status", ""))
