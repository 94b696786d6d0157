"""What a library was built without, and whether the job uses it at all."""

from __future__ import annotations

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Job
from ncdiag.facts.view import View

_WITHOUT, _CHECK = "horovod-without-nccl", "--check-build"


@derived
def is_horovods(job: Job, view: View) -> bool:
    """Does Horovod run the job: by a launch line, what somebody says of the launcher, or what it prints itself?

    An image may contain it, and the check of its build be run, while the job uses something else.
    """
    if any("horovod" in f"{launch.program} {launch.text}" and _CHECK not in launch.text for launch in job.launches):
        return True
    says = any(name.startswith("horovod-") and name != _WITHOUT for name in view.event_names())
    return says or any(context.kind == "launcher" and context.value == "horovodrun" for context in job.contexts)
