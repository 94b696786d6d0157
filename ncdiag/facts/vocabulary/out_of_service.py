"""Nodes that a scheduler took out of service: is one of them a node of the job?

Nearly every cluster has such nodes, and ``sinfo -R`` lists them whatever happens to the job.
"""

from __future__ import annotations

from ncdiag.facts.derived import derived_of
from ncdiag.facts.fold import unfold_hosts
from ncdiag.facts.model import Event, Job
from ncdiag.facts.view import View

NODE_OUT = "slurm-node-out"
_RUNS = "slurm-job-runs"


@derived_of(NODE_OUT)
def is_beside_the_job(event: Event, view: View) -> bool | None:
    """Is the node none of the job's? None where the line names no node, or nothing shows the hosts of the job."""
    nodes, own = _short(_listed(event)), _own_hosts(view.job)
    return nodes.isdisjoint(own) if nodes and own else None


def _listed(event: Event) -> set[str]:
    return set(unfold_hosts(str(event.fields.get("on_host") or event.fields.get("node_list") or "")))


def _own_hosts(job: Job) -> frozenset[str]:
    """The hosts of ranks, those that launch lines name, and those that squeue lists for a running job."""
    names = {rank.host for rank in job.ranks if rank.host}
    names |= {host.name for launch in job.launches for host in launch.hosts}
    for event in job.events:
        if event.event == _RUNS:
            names |= _listed(event)
    return _short(names)


def _short(names: set[str]) -> frozenset[str]:
    return frozenset(name.partition(".")[0].lower() for name in names)
