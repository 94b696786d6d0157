"""A job that really hangs is diagnosed, the advice is applied, and the job runs to its end."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hosts import Hosts

Sweep = Callable[..., subprocess.CompletedProcess[bytes]]
Run = Callable[..., subprocess.CompletedProcess[bytes]]

DOCKER = (
    "link add docker0 type bridge", "addr add 172.17.0.1/16 dev docker0", "link set docker0 up",
    "link add pod0 type veth peer name pod1", "link set pod0 master docker0", "link set pod0 up", "link set pod1 up",
)  # fmt: skip
JOB = """
import ctypes
mpi = ctypes.CDLL("libmpi.so.40", mode=ctypes.RTLD_GLOBAL)
mpi.MPI_Init(None, None)
names = "ompi_mpi_comm_world", "ompi_mpi_int", "ompi_mpi_op_sum"
world, integer, add = (ctypes.byref(ctypes.c_void_p.in_dll(mpi, name)) for name in names)
own, total = ctypes.c_int(1), ctypes.c_int()
mpi.MPI_Allreduce(ctypes.byref(own), ctypes.byref(total), 1, integer, add, world)
print("ranks that met:", total.value, flush=True)
mpi.MPI_Finalize()
"""
HANGS = 8
"""Seconds after which a job that takes one is taken for one that hangs."""


@pytest.mark.root
@pytest.mark.xdist_group("fleet")
@pytest.mark.long
def test_open_mpi_and_docker0(
    fleet: Hosts, sweep: Sweep, ncdiag: Run, tmp_path: Path, need: Callable[[str, object, str], None]
) -> None:
    """Each host has docker0 with the same address: a rank that connects to that of another host meets itself."""
    need("mpirun", shutil.which("mpirun"), "Open MPI is not installed (openmpi-bin)")
    pair = ["n5", "n6"]
    program = tmp_path / "job.py"
    program.write_text(JOB)

    def job(seconds: int, **more: str) -> subprocess.CompletedProcess[bytes]:
        limit = ["timeout", "-k", "2", str(seconds)]
        line = ["mpirun", "-H", ",".join(f"{host}:1" for host in pair), "-n", "2", "--mca", "plm_rsh_args", fleet.ssh,
                "--mca", "btl", "tcp,self", "python3", str(program)]  # fmt: skip
        root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        return subprocess.run(
            [*fleet.head, *limit, *line], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
            env={**os.environ, **root, **more},
        )  # fmt: skip

    try:
        for host in pair:
            for line in DOCKER:
                assert fleet.run(host, "ip", *line.split()).returncode == 0
        hanging = job(HANGS)
        assert hanging.returncode == 124, "without a hang there is nothing to diagnose"
        log, seen = tmp_path / "job.out", tmp_path / "hosts.part"
        log.write_bytes(hanging.stdout)
        assert sweep("check", "--nodes", ",".join(pair), "--partial", "-o", seen).returncode == 0
        report = json.loads(ncdiag("triage", log, seen, "--format", "json").stdout)
        cause = report["findings"][0]
        assert (report["summary"]["root_cause"], cause["name"]) == ("mpi-wrong-interface", "mpi-wrong-interface")
        advice = cause["fixes"][0]["env"]
        assert advice["OMPI_MCA_btl_tcp_if_include"] == "eth0"
        mended = job(60, **advice)
    finally:
        for host in pair:
            fleet.run(host, "ip", "link", "del", "pod0")
            fleet.run(host, "ip", "link", "del", "docker0")
    assert (mended.returncode, mended.stdout.count(b"ranks that met: 2\n")) == (0, 2)
