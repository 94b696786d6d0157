"""Nodes that Slurm took out of service, and whether a job waits for one of them."""

from __future__ import annotations

from ncdiag.facts.derived import derived, derived_of
from ncdiag.facts.model import Event
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.job import has_ready_rank
from ncdiag.facts.vocabulary.out_of_service import NODE_OUT, is_beside_the_job

_WAITS = "slurm-job-waits"


@derived_of(NODE_OUT)
def keeps_job_waiting(event: Event, view: View) -> bool:
    """Is it a node of the job, or does the job wait, as squeue or a person says?"""
    if is_beside_the_job(event, view) is False:
        return True
    return _WAITS in view.event_names() or any(complaint.what == "cannot-start" for complaint in view.job.complaints)


@derived_of(NODE_OUT)
def is_no_obstacle(event: Event, view: View) -> bool | None:
    """Does the job run, or on other nodes? None where the input does not show which nodes it has."""
    return True if has_ready_rank(view.job, view) else is_beside_the_job(event, view)


@derived
def node_out(event: Event, view: View) -> str:
    """The node, and why it is out of service: ``gpu[07,12] out of service: Kill task failed``."""
    node = event.fields.get("on_host") or event.fields.get("node_list") or "a node"
    reason = str(event.fields.get("node_reason") or "").strip()
    return f"{node} out of service: {reason}" if reason else f"{node} out of service"
