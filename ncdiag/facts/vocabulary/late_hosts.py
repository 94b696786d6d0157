"""Hosts that join a job late, and how late: pods whose image was pulled for minutes."""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Job
from ncdiag.facts.view import View

_PULLED = "k8s-image-pulled"
_DURATION = lazy_regex(r"(?:(?P<hours>\d{1,3})h)?(?:(?P<minutes>\d{1,4})m)?(?:(?P<seconds>\d{1,5})(?:\.\d{1,9})?s)?$")
"""A duration of Go: ``1h2m3.5s``."""


@derived
def late_seconds(job: Job, view: View) -> int:
    """The longest time in seconds for which the image of a pod was pulled; 0 where none was seen."""
    found = [(_seconds(str(event.fields.get("pull_time"))), event) for event in job.events if event.event == _PULLED]
    longest, event = max(found, key=lambda each: each[0], default=(0, None))
    if event is not None:
        view.note(event)
    return longest


def _seconds(text: str) -> int:
    found = _DURATION.match(text)
    if found is None:
        return 0
    return sum(int(found[name] or 0) * size for name, size in (("hours", 3600), ("minutes", 60), ("seconds", 1)))
