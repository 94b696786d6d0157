"""``ncdiag run -- mpirun`` over hosts: the variables reach the ranks of other hosts, and their logs are read."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import slurm_node
from hosts import Hosts

pytestmark = [pytest.mark.root, pytest.mark.xdist_group("fleet")]
PAIR = ["n4", "n5"]
JOB = """
import os, socket
name = os.environ.get("NCCL_DEBUG_FILE", "")
host = socket.gethostname()
print(host, os.environ.get("NCCL_DEBUG"), flush=True)
with open(name.replace("%h", host).replace("%p", str(os.getpid())), "w") as log:
    log.write(f"{host}:{os.getpid()}:{os.getpid()} [0] NCCL INFO Bootstrap : Using eth0:10.77.0.9<0>\\n")
    log.write(f"{host}:{os.getpid()}:{os.getpid()} [0] NCCL INFO NCCL version 2.21.5+cuda12.4\\n")
"""


def test_the_ranks_of_other_hosts_write_logs(
    fleet: Hosts, program: list[str], tmp_path: Path, need: Callable[[str, object, str], None]
) -> None:
    """The job does what NCCL does with these variables; a real library is in tests/nccl/test_watched_job.py."""
    need("mpirun", shutil.which("mpirun"), "Open MPI is not installed (openmpi-bin)")
    job, logs = tmp_path / "job.py", tmp_path / "logs"
    job.write_text(JOB)
    launch = ["mpirun", "-H", ",".join(f"{host}:1" for host in PAIR), "-n", "2", "--mca", "plm_rsh_args", fleet.ssh,
              "--mca", "btl", "tcp,self", "python3", str(job)]  # fmt: skip
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    report = tmp_path / "report.json"
    done = subprocess.run(
        [*fleet.head, *program, "run", "--logs", logs, "--format", "json", "-o", report, "--", *launch],
        capture_output=True, check=False, stdin=subprocess.DEVNULL, env={**os.environ, **root},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.decode().splitlines()) == [f"{host} INFO" for host in PAIR]
    assert {path.name.split(".")[1] for path in logs.iterdir()} == set(PAIR)
    summary = json.loads(report.read_text())["summary"]
    assert (summary["nhosts"], summary["nccl_version"]) == (2, "2.21.5+cuda12.4")


@pytest.mark.long
def test_srun_passes_everything_on_by_itself(
    program: list[str], tmp_path: Path, need: Callable[[str, object, str], None]
) -> None:
    need("slurm", slurm_node.is_here(), slurm_node.LACKING)
    job = ["srun", "-N", "2", "-n", "2", "sh", "-c", "echo $SLURMD_NODENAME $NCCL_DEBUG $NCCL_DEBUG_FILE; exit 4"]
    line = shlex.join([*program, "run", "-q", "--logs", "logs", "-o", "report", "--", *job])
    done = slurm_node.run(f"{line}; echo $?", tmp_path, os.environ, nodes="n1 n2")
    log = f"{tmp_path}/logs/nccl.%h.%p.log"
    assert sorted(done.stdout.splitlines()) == ["4", f"n1 INFO {log}", f"n2 INFO {log}"], done.stderr
