"""Variables that the shell exports before a launch line, and that its launcher does not pass to other hosts."""

from __future__ import annotations

from collections.abc import Iterator

from ncdiag.facts.model import Job, Launch, Relation, Setting
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.launches import (
    HYDRA_OPTIONS,
    MPI_PROGRAMS,
    OPEN_MPI_OPTIONS,
    SLURM_PROGRAMS,
    is_multi_host,
)
from ncdiag.facts.vocabulary.places import place
from ncdiag.facts.vocabulary.probes import lines_of

_FAMILIES = ("NCCL_", "TORCH_NCCL_", "UCX_", "GLOO_", "TP_SOCKET_", "FI_", "HOROVOD_", "HCCL_", "LD_LIBRARY_PATH")
_OF_DEEPSPEED = ("NCCL", "PYTHON", "MV2", "UCX")
"""What the names of the variables begin with that DeepSpeed passes on (deepspeed/launcher/runner.py, EXPORT_ENVS)."""
_SHOWN = 3


def not_passed_on(job: Job, view: View) -> Iterator[Relation]:
    """The shell exports variables, and the launch line for several hosts does not pass them on."""
    # under Slurm, the daemons of MPI start with the environment
    if any(launch.program in SLURM_PROGRAMS for launch in job.launches):
        return
    exported = [s for s in job.settings if s.origin == "shell" and s.is_set and s.name.startswith(_FAMILIES)]
    for launch in job.launches if exported else ():
        passed = {*launch.forwarded, *launch.env}
        lost = [s for s in exported if s.name not in passed and _is_before(s, launch) and _drops(launch, s.name, view)]
        if lost:
            names = ", ".join(s.name for s in lost[:_SHOWN]) + (" and others" if len(lost) > _SHOWN else "")
            text = f"the shell exports {names}, which {launch.program} does not pass to other hosts"
            yield Relation(what="not-passed-on", text=text, provenance=lines_of([lost[0], launch]))


def _is_before(setting: Setting, launch: Launch) -> bool:
    one, other = place(setting), place(launch)
    return one is not None and other is not None and one[0] == other[0] and one[1] < other[1]


def _drops(launch: Launch, name: str, view: View) -> bool:
    """Does the launcher start processes on other hosts without this variable?"""
    if not (launch.hostfile or is_multi_host(launch, view)):
        return False
    if launch.program == "deepspeed":
        return not name.startswith(_OF_DEEPSPEED)
    text = launch.text
    return (
        launch.program.endswith(MPI_PROGRAMS) and bool(OPEN_MPI_OPTIONS.search(text)) and not HYDRA_OPTIONS.search(text)
    )
