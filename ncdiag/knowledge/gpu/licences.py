"""The licence of a virtual GPU."""

from __future__ import annotations

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Job
from ncdiag.facts.view import View

_WITHOUT = frozenset({"Unlicensed", "Unlicensed (Restricted)"})
"""``Unlicensed (Unrestricted)`` is left out: the first minutes after the start, in which nothing is limited."""
_MISSING, _ACQUIRED = "vgpu-license-missing", "vgpu-license-acquired"


@derived
def lacks_vgpu_license(job: Job, view: View) -> bool | None:
    """Does a virtual GPU have no licence? None where neither its state nor the log of its daemon is shown."""
    known = [gpu for host in job.hosts for gpu in host.gpus if gpu.license is not None]
    for gpu in known:
        if gpu.license in _WITHOUT:
            view.note(gpu, "license")
            return True
    if known or any(event.event == _ACQUIRED for event in job.events):
        return False
    for event in job.events:
        if event.event == _MISSING:
            view.note(event)
            return True
    return None
