"""Nodes that a scheduler took out of service: is one of them a node of the job?

Nearly every cluster has such nodes, and ``sinfo -R`` lists them whatever happens to the job.
"""

from __future__ import annotations

from ncdiag.facts.derived import derived, derived_of
from ncdiag.facts.fold import unfold_hosts
from ncdiag.facts.model import Event, Job
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.slurm_jobs import rows_of_the_job

NODE_OUT = "slurm-node-out"


@derived_of(NODE_OUT)
def is_beside_the_job(event: Event, view: View) -> bool | None:
    """Is the node none of the job's? None where the line names no node, or nothing shows the hosts of the job."""
    nodes, own = _short(_listed(event)), own_hosts(view.job, view)
    return nodes.isdisjoint(own) if nodes and own else None


def is_asked_for(event: Event, view: View) -> bool:
    """Does a launch line name the node?"""
    return not _short(_listed(event)).isdisjoint(launched_hosts(view.job, view))


def _listed(event: Event) -> set[str]:
    return set(unfold_hosts(str(event.fields.get("on_host") or event.fields.get("node_list") or "")))


@derived
def launched_hosts(job: Job, view: View) -> frozenset[str]:
    """The hosts that launch lines name."""
    del view
    return _short({host.name for launch in job.launches for host in launch.hosts})


@derived
def own_hosts(job: Job, view: View) -> frozenset[str]:
    """The hosts of ranks, those that launch lines name, and those of the rows of squeue that are the job's."""
    listed = {name for row in rows_of_the_job(job, view) for name in _listed(row)}
    return _short({rank.host for rank in job.ranks if rank.host} | listed) | launched_hosts(job, view)


def _short(names: set[str]) -> frozenset[str]:
    return frozenset(name.partition(".")[0].lower() for name in names)
