"""Whether srun tells the tasks of a job of each other."""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Job
from ncdiag.facts.view import View

_MPI_OPTION = lazy_regex(r"\s--mpi[=\s](?!list)(\w{1,20})")


@derived
def tasks_lack_pmi(job: Job, view: View) -> bool:
    """Does srun start several tasks with the kind ``none``: by its option, or by the default of Slurm?"""
    lines = [launch for launch in job.launches if launch.program == "srun"]
    options = [option[1] for launch in lines if (option := _MPI_OPTION.search(launch.text or ""))]
    defaults = [host for host in job.hosts if (host.slurm_config or {}).get("MpiDefault") == "none"]
    for launch in lines[:1]:
        view.note(launch)
    for host in defaults:
        view.note(host, "slurm_config")
    return bool(lines) and ("none" in options if options else bool(defaults))
