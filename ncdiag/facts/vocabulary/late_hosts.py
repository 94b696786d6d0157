"""Hosts that join a job late, and how late: pods of the job whose image was pulled for minutes."""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.assemble_hosts import UNNAMED
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Job
from ncdiag.facts.view import View

_PULLED = "k8s-image-pulled"
_TIMED_OUT = "torch-store-timeout"
_NUMBER = lazy_regex(r"(?:-(?:master|chief|leader|worker|launcher|node))?(?:-\d{1,5})+(?:-[a-z0-9]{5})?$")
"""Pods of a StatefulSet, of a job with an index, and of a PyTorchJob."""
_DURATION = lazy_regex(r"(?:(?P<hours>\d{1,3})h)?(?:(?P<minutes>\d{1,4})m)?(?:(?P<seconds>\d{1,5})(?:\.\d{1,9})?s)?$")
"""A duration of Go: ``1h2m3.5s``."""


@derived
def late_seconds(job: Job, view: View) -> int:
    """The longest time in seconds for which the image of a pod of the job was pulled; 0 where none was seen."""
    groups = {_group(name) for name in _waiting(job)}
    found = [
        (_seconds(str(event.fields.get("pull_time"))), event) for event in job.events
        if event.event == _PULLED
        and (not groups or event.host in {None, UNNAMED} or _group(event.host or "") in groups)
    ]  # fmt: skip
    longest, event = max(found, key=lambda each: each[0], default=(0, None))
    if event is not None:
        view.note(event)
    return longest


def _waiting(job: Job) -> set[str]:
    """The named hosts that start the job or waited for others."""
    names = {launch.host for launch in job.launches} | {each.host for each in job.events if each.event == _TIMED_OUT}
    return {name for name in names if name and name != UNNAMED}


def _group(name: str) -> str:
    """The name of a pod without its number, which the pods of a job share: ``fit`` of ``fit-worker-0``."""
    return _NUMBER.sub("", name)


def _seconds(text: str) -> int:
    found = _DURATION.match(text)
    if found is None:
        return 0
    return sum(int(found[name] or 0) * size for name, size in (("hours", 3600), ("minutes", 60), ("seconds", 1)))
