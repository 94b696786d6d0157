"""The kind of PMI that srun should offer to the tasks of a job.

Sources: https://slurm.schedmd.com/mpi_guide.html (Open MPI: pmix; MPICH, MVAPICH and Intel MPI: pmi2 or pmix).
"""

from __future__ import annotations

from ncdiag.facts.view import View
from ncdiag.fixes.values import Bindings, Value, best

_OF_MPICH = ("I_MPI_", "MPICH_", "MV2_", "MVP_")
"""Beginnings of variables of MPICH and its descendants."""
_OF_CRAY = "cray_shasta"
"""A system of HPE Cray, whose default is for its own MPI: no other kind is good for all jobs there."""


@best
def pmi_kind(view: View, bindings: Bindings) -> Value:  # noqa: ARG001
    """The option of srun for the kind that the program's MPI uses, of those that Slurm lists and that did not fail."""
    shown = {name for host in view.job.hosts for name in host.slurm_mpi_types or ()}
    failed = {str(event.fields["mpi_type"]) for event in view.job.events if event.fields.get("mpi_type")}
    names = {*(setting.name for setting in view.job.settings), *(n for h in view.job.hosts for n in h.settings)}
    wanted = ("pmi2", "pmix") if any(name.startswith(_OF_MPICH) for name in names) else ("pmix", "pmi2")
    if _OF_CRAY in shown:
        if _OF_CRAY in failed or not any(name.startswith("MPICH_") for name in names):
            return Value(reason="which MPI the program uses was not seen", ask_for=("srun --mpi=list",))
        return Value(text=f"srun --mpi={_OF_CRAY} ...", reason="Slurm lists it, and variables of Cray MPICH are set")
    kind = next((name for name in wanted if name in (shown or wanted[:1]) and name not in failed), None)
    if kind is None:
        return Value(reason="Slurm was not seen to have a plugin for the program's MPI", ask_for=("srun --mpi=list",))
    text = f"srun --mpi={kind} ...   # for all jobs: MpiDefault={kind} in slurm.conf"
    if shown:
        return Value(text=text, reason="Slurm lists it")
    return Value(text=text, reason="the kind that most builds of MPI use", ask_for=("srun --mpi=list",))
