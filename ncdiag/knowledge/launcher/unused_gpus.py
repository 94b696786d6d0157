"""Hosts of which only some GPUs are said to work, because a launch starts fewer processes there than it has GPUs.

torch.distributed.run starts one process without ``--nproc-per-node`` (pytorch v2.4.0 torch/distributed/run.py,
``default="1"``). Slurm starts ``--ntasks-per-node`` tasks, whatever number of GPUs a job requests (man srun).
"""

from __future__ import annotations

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Job, Launch
from ncdiag.facts.stated import counts
from ncdiag.facts.view import View

_FORM = "gpus-unused"
_ONE_BY_DEFAULT = frozenset({"torchrun", "torch.distributed.launch", "torch.distributed.run"})


@derived
def has_unused_gpus(job: Job, view: View) -> bool:
    """Does somebody say that only some of the GPUs work, or that the others are idle?"""
    told = next((each for each in job.complaints if each.form == _FORM and not each.is_past), None)
    if told is not None:
        view.note(told)
    return told is not None


@derived
def leaves_gpus_unused(launch: Launch, view: View) -> bool | None:
    """Does the launch start the most processes of all launches on a host, and yet fewer than the host has GPUs?

    One process may drive several GPUs. None if the number of GPUs is unknown.
    """
    job = view.job
    here, there = processes_here(launch, view), gpus_there(job, view)
    if not here or here != max_processes(job, view):
        return False
    view.note(launch)
    return here < there if there else None


@derived
def processes_here(launch: Launch, view: View) -> int:
    """The number of processes that the launch starts on each host; 0 if it does not say."""
    return _processes(launch)


def _processes(launch: Launch) -> int:
    if launch.nproc_per_node is not None:
        return launch.nproc_per_node
    if launch.np is not None and not launch.hosts and (launch.nnodes or 1) == 1:
        return launch.np
    return 1 if launch.program in _ONE_BY_DEFAULT else 0


@derived
def max_processes(job: Job, view: View) -> int:
    """The largest number of processes on a host that a launch names; 0 if none does."""
    return max((_processes(launch) for launch in job.launches), default=0)


@derived
def gpus_there(job: Job, view: View) -> int:
    """The number of GPUs of a host: as shown, as requested from Slurm, or as people say; 0 if unknown."""
    shown = [max(len(host.gpus), host.gpus_attached or 0) for host in job.hosts]
    asked = [launch.gpus_per_node or 0 for launch in job.launches]
    return max([*shown, *asked, *counts(job.contexts, "gpu-count")], default=0)
