"""How variables reach the ranks of a command: what is added to it, and what is only said."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable

import pytest

from ncdiag.apps.watching import launch

NAMES = ("NCCL_DEBUG", "NCCL_DEBUG_FILE", "TORCH_NCCL_TRACE_BUFFER_SIZE")
UNTOUCHED = [
    "torchrun --nproc_per_node 8 train.py --launcher mpirun -n 2",
    "python train.py -- mpirun -n 2 x",
    "bash train.sh",
    "srun -N 2 --ntasks-per-node 8 python train.py",
    "srun --export=ALL,A=1 python train.py",
    "accelerate launch --num_machines 2 train.py",
    "horovodrun -np 4 -H a:2,b:2 python train.py",
    "sudo -E torchrun train.py",
    "apptainer exec --nv image.sif torchrun train.py",
    "env A=1 timeout -k 5 10m torchrun train.py",
]
TOLD = {
    "srun --export=NONE -n 2 python train.py": "add NCCL_DEBUG,NCCL_DEBUG_FILE,",
    "srun --export A -n 2 python train.py": "srun passes on only the variables named in --export",
    "mpiexec -genvlist PATH -n 2 ./job": "-genvlist limits which variables are passed on: add -genv NAME VALUE",
    "docker run --rm image torchrun train.py": "docker run does not pass on the environment",
    "ssh node7 torchrun train.py": "ssh does not pass on the environment",
    "sudo -u me torchrun train.py": "sudo does not pass on the environment",
    "kubectl exec pod -- torchrun train.py": "kubectl exec does not pass on the environment",
    "deepspeed --hostfile hosts train.py": "may not pass NCCL_DEBUG, NCCL_DEBUG_FILE, TORCH_",
}


@pytest.mark.parametrize("line", UNTOUCHED)
def test_nothing_is_said_where_the_environment_arrives(line: str) -> None:
    made = launch.plan(line.split(), NAMES, {"SLURMD_NODENAME": "n1"})
    assert (list(made.argv), made.notes) == (line.split(), ())


@pytest.mark.parametrize("line", TOLD)
def test_what_is_kept_back_is_said_and_the_command_stays(line: str) -> None:
    made = launch.plan(line.split(), NAMES, {})
    assert list(made.argv) == line.split()
    assert TOLD[line] in " ".join(made.notes)


@pytest.fixture
def mpirun(need: Callable[[str, object, str], None]) -> str:
    found = shutil.which("mpirun")
    need("mpirun", found, "Open MPI is not installed (openmpi-bin)")
    said = subprocess.run(["mpirun", "--version"], capture_output=True, check=False).stdout
    need("mpirun", b"Open MPI" in said, "mpirun is not that of Open MPI")
    return "mpirun"


def test_open_mpi_is_told_to_pass_them_on(mpirun: str) -> None:
    made = launch.plan(["timeout", "60", mpirun, "-x", "NCCL_DEBUG", "-n", "2", "./job", "-x"], NAMES, {})
    more = ["-x", "NCCL_DEBUG_FILE", "-x", "TORCH_NCCL_TRACE_BUFFER_SIZE"]
    assert list(made.argv) == ["timeout", "60", mpirun, *more, "-x", "NCCL_DEBUG", "-n", "2", "./job", "-x"]
    assert made.notes == ()


@pytest.mark.parametrize(
    ("words", "environment", "told"),
    [
        ("-n 1 ./a : -n 1 ./b", {}, "each of the applications needs -x NCCL_DEBUG"),
        ("--mca mca_base_env_list A -n 1 ./a", {}, "excludes -x: add NCCL_DEBUG;NCCL_DEBUG_FILE"),
        ("-n 1 ./a", {"OMPI_MCA_mca_base_env_list": "A"}, "excludes -x"),
    ],
)
def test_open_mpi_is_left_alone_where_that_would_not_do(
    mpirun: str, words: str, environment: dict[str, str], told: str
) -> None:
    made = launch.plan([mpirun, *words.split()], NAMES, environment)
    assert list(made.argv) == [mpirun, *words.split()]
    assert told in " ".join(made.notes)


@pytest.mark.parametrize(
    ("line", "environment", "elsewhere"),
    [
        ("torchrun --nnodes 2 train.py", {}, False),
        ("srun python train.py", {"SLURMD_NODENAME": "n1", "SLURM_JOB_NUM_NODES": "1"}, False),
        ("srun python train.py", {"SLURMD_NODENAME": "n1", "SLURM_JOB_NUM_NODES": "2"}, True),
        ("srun python train.py", {}, True),
        ("mpirun -H localhost:2 ./job", {}, False),
        ("mpirun -H gpu-a01:8,gpu-a02:8 ./job", {}, True),
        ("mpirun -hostfile hosts ./job", {}, True),
        ("mpirun -n 2 ./job", {"PBS_NODEFILE": "/x"}, True),
    ],
)
def test_other_hosts_are_seen(line: str, environment: dict[str, str], elsewhere: bool) -> None:
    assert launch.plan(line.split(), (), environment).elsewhere is elsewhere


def test_a_job_that_is_queued_is_none_to_watch() -> None:
    assert launch.plan(["sbatch", "job.sh"], (), {}).queues
