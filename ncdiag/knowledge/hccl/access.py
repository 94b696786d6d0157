"""Who cannot use the Ascend NPUs although others can."""

from __future__ import annotations

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Job
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.access import closed


@derived
def npu_closed_to(job: Job, view: View) -> tuple[str, ...]:
    """Who cannot use the Ascend NPUs although others can, in the words of ``nvidia_closed_to``."""
    return tuple(closed(job, view, "npu-smi", "npu"))
