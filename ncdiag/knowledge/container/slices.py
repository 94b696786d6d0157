"""Time slices and MPS shares of GPUs that Kubernetes gives to a pod in place of GPUs."""

from __future__ import annotations

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Job
from ncdiag.facts.view import View

_REFUSED, _DUPLICATE = "k8s-shared-gpu-request-refused", "duplicate-gpu"
_VISIBLE = "NVIDIA_VISIBLE_DEVICES"
_IDENTIFIERS = ("GPU-", "MIG-")


@derived
def slices_for_gpus(job: Job, view: View) -> bool | None:
    """Did a pod get, or ask for, several slices of one GPU where its job needs as many GPUs?

    A process that uses one GPU may have several slices of it, as a share of its memory.
    """
    for event in view.events_named(_REFUSED)[:1]:
        view.note(event)
        return True
    every = [*job.settings, *(s for host in job.hosts for s in host.settings.values())]
    repeated = [s for s in every if s.name == _VISIBLE and _repeats(s.text or "")]
    if not repeated:
        return False
    view.note(repeated[0])
    if view.events_named(_DUPLICATE) or any((line.nproc_per_node or 0) > 1 for line in job.launches):
        return True
    return None if job.nranks is None else job.nranks > 1


def _repeats(listed: str) -> bool:
    """The list has a GPU twice; the number of a slice comes after two colons."""
    names = [name.strip().partition("::")[0] for name in listed.strip("\"' ").split(",")]
    return len(set(names)) < len(names) and all(name.startswith(_IDENTIFIERS) for name in names)
