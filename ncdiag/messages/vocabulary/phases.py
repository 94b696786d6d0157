"""How far the ranks of a job came."""

from __future__ import annotations

from typing import Literal

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Job, Rank
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.outcome import marks
from ncdiag.messages.vocabulary.reasons import category


@derived
def phase(job: Job, view: View) -> Literal["rendezvous", "bootstrap", "connect", "collective", "later"] | None:
    """How far the ranks came: met, found each other, connected, began collectives; None where nothing tells.

    By what their lines show: a rank without more than its bootstrap interface stands before the rest.
    """
    if marks(job, view).stepped or any(run.rows for run in job.benchmarks):
        return "later"
    if not job.ranks:
        return "rendezvous" if any(category(e, view) == "rendezvous" for e in job.events) else None
    reached = {_reached(rank) for rank in job.ranks}
    order: tuple[Literal["bootstrap", "connect", "collective"], ...] = ("bootstrap", "connect", "collective")
    return next((name for name in order if name in reached), None)


def _reached(rank: Rank) -> str:
    if rank.last_ops or rank.state == "ready":
        return "collective"
    return "connect" if rank.transports or rank.net is not None else "bootstrap"
