"""Whether a job was measured to be slow, and settings and habits that matter only then."""

from __future__ import annotations

from collections.abc import Iterator

from ncdiag.facts.model import Job
from ncdiag.facts.view import View, derived


@derived
def slowness_of_training(job: Job, view: View) -> str | None:
    """The same of trainings alone: what slows a framework down does not slow a benchmark."""
    return next(slow_trainings(job, view), "" if job.throughputs else None)


def slow_trainings(job: Job, view: View) -> Iterator[str]:
    """What was measured of trainings that lose speed between nodes, a sentence each."""
    for scaling in view.get(job, "scalings"):
        if view.get(scaling, "loses_between_nodes"):
            view.note(scaling)
            yield f"{scaling.nodes} nodes keep {view.get(scaling, 'across_text')} of the speed"
