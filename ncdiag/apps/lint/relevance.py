"""What lint ignores: launches that do not concern NCCL, and options that are known only at run time."""

from __future__ import annotations

from collections.abc import Mapping

from ncdiag.apps.lint.model import Document
from ncdiag.base.patterns import lazy_regex

_FAMILIES = ("NCCL_", "TORCH_NCCL_", "HCCL_", "HOROVOD_", "GLOO_", "FI_", "RCCL_", "NVSHMEM_", "LIGHT_")
_TRAINING = lazy_regex(r"torch|deepspeed|accelerate|horovod|.*_perf(?:_mpi)?$")
_GENERAL = lazy_regex(r"mpirun|mpiexec|orterun|prterun|srun|sbatch")
_CONTAINER = lazy_regex(r"(?:docker|podman|nvidia-docker|nerdctl) run")
_STARTS_JOB = lazy_regex(
    r"(?:^|[\s/'\"=])(?:python[\d.]*|torchrun|mpirun|mpiexec|deepspeed|accelerate|horovodrun|srun|\w+_perf)(?:\s|$)"
)
_OPTIONS_LATER = lazy_regex(r"(?:^|\s)['\"]?\$[{(]?[A-Za-z_@*]")


def starts_job(text: str) -> bool:
    """True if a command line starts a program that may use NCCL, or sets a variable for one."""
    return _STARTS_JOB.search(text) is not None or any(family in text for family in _FAMILIES)


def concerns_nccl(document: Document, program: str, text: str) -> bool:
    """True if a launch of this program is worth checking.

    Containers, MPI and Slurm start all kinds of programs. A container counts if it starts a job itself; the others
    count if the file sets a variable of NCCL or a related program, or starts training.
    """
    if _CONTAINER.match(program):
        return starts_job(text)
    if not _GENERAL.match(program):
        return True
    sets = any(s.name.startswith(_FAMILIES) and s.reaches != "shell" for s in document.settings)
    return sets or any(_TRAINING.match(launch.program) for launch in document.launches)


def is_told_whole(launch: Mapping[str, object]) -> bool:
    """True if no variable contains options of the launch: otherwise options may seem to be missing."""
    return _OPTIONS_LATER.search(str(launch.get("text", ""))) is None
