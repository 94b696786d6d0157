"""Launch lines and manifests: containers and pods, hosts, shared memory, RDMA devices."""

from __future__ import annotations

from collections.abc import Mapping

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Job, Launch
from ncdiag.facts.view import View

POD = "kubernetes"
SLURM_PROGRAMS = frozenset({"srun", "sbatch", "salloc"})
"""The programs with which Slurm starts a job."""
HYDRA_OPTIONS = lazy_regex(r"\s-(?:g?env\w*|ppn|perhost|hosts|f|iface|bootstrap)\b")
"""Options of MPICH and Intel MPI, whose launcher passes on its whole environment (Hydra: -genvall is the default)."""
OPEN_MPI_OPTIONS = lazy_regex(r"\s(?:-x|--?mca|-H|--host|--?hostfile|--allow-run-as-root|--?map-by|--?bind-to|-N)\b")


@derived
def asks_rdma(launch: Launch, view: View) -> bool | None:
    """Is the container given RDMA devices? None for a line that does not start a container."""
    if launch.program == POD:
        return bool(launch.rdma_resources)
    if launch.program in CONTAINER_PROGRAMS:
        return bool(launch.privileged) or any("infiniband" in device for device in launch.devices)
    return None


CONTAINER_PROGRAMS = ("docker run", "podman run", "nvidia-docker run", "nerdctl run", "docker compose")
CONTAINER_SHM = 64 << 20
"""Shared memory of a container without --shm-size and --ipc=host, in bytes (Docker reference, docker run)."""


ANY_OF_NCCL = "NCCL_*"


@derived
def programs_by_variable(job: Job, view: View) -> Mapping[str, Mapping[str, int]]:
    """The programs of the launches that set a variable (`ANY_OF_NCCL`: one of NCCL's), with the first such launch."""
    found: dict[str, dict[str, int]] = {ANY_OF_NCCL: {}}
    for number, launch in enumerate(job.launches):
        held = {*launch.env, *launch.prefix_env}
        for name in (*held, *([ANY_OF_NCCL] if any(name.startswith("NCCL_") for name in held) else [])):
            found.setdefault(name, {}).setdefault(launch.program, number)
    return found


_NNODES = lazy_regex(r"--nnodes[=\s]\$\{?(\w{1,60})\}?")
_DIGITS = 6


@derived
def is_multi_host(launch: Launch, view: View) -> bool | None:
    """Does the line start processes on several hosts? None when it does not say."""
    if launch.program == "hostfile" and not any(host.slots for host in launch.hosts):
        return None  # names in a list need not be the hosts of this launch
    if launch.hosts:
        return len({host.name for host in launch.hosts}) > 1
    if launch.program.endswith("_perf") and launch.nnodes is None:
        return False  # nccl-tests without a launcher: one process
    count = launch.nnodes if launch.nnodes is not None else _nnodes_of_variable(launch, view)
    return count > 1 if count is not None else None


def _nnodes_of_variable(launch: Launch, view: View) -> int | None:
    """The number of hosts of ``--nnodes=$NNODES``, where the input assigns the variable."""
    found = _NNODES.search(launch.text)
    setting = view.setting(view.job, found[1]) if found else None
    text = (setting.text or "") if setting is not None else ""
    return int(text) if text.isdecimal() and len(text) < _DIGITS else None


@derived
def is_container(launch: Launch, view: View) -> bool:
    """Does the line start a container?"""
    return launch.program in CONTAINER_PROGRAMS


@derived
def container_shm_bytes(launch: Launch, view: View) -> int | None:
    """The size of the container's shared memory in bytes; None when it shares the host's or is not a container."""
    if launch.program not in CONTAINER_PROGRAMS or launch.ipc == "host":
        return None
    return launch.shm_size_bytes if launch.shm_size_bytes is not None else CONTAINER_SHM


MPI_PROGRAMS = ("mpirun", "mpiexec", "orterun", "prterun")
EACH_ON_ITS_HOST = frozenset({
    "torchrun", "torch.distributed.run", "torch.distributed.launch", "accelerate launch", "paddle.distributed.launch",
    "fleetrun", "msrun",
})  # fmt: skip
"""Launchers that have to be started once on every host."""


def tasks_on_each(each: int | None, total: int | None, hosts: int | None) -> int | None:
    """Tasks that a launcher starts on each host: as it says, else of all of them; None where that is not known."""
    if each is not None:
        return each
    return total // hosts if total is not None and hosts else None


_ALLOCATING = frozenset({"sbatch", "salloc"})
"""Commands that request a job; a step of srun may be smaller than its job on purpose."""


def starts_fewer_tasks(program: str, tasks: int | None, tasks_per_node: int | None, nodes: int | None) -> bool:
    """True if a job of Slurm has fewer tasks than nodes times tasks per node (one node if none is given).

    With --ntasks, --ntasks-per-node is only a maximum (slurm.schedmd.com/srun.html#OPT_ntasks-per-node).
    """
    known = program in _ALLOCATING and tasks is not None and tasks_per_node is not None
    return known and 0 < (tasks or 0) < (tasks_per_node or 0) * (nodes or 1)
