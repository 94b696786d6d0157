"""Rendered lines, run: the real shell, mpirun and srun hand every rank exactly the values of the fix."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import slurm_node

from ncdiag.fixes.render import Change, render

CHANGE = Change(
    env={
        "NCCL_SOCKET_IFNAME": "=bond0", "NCCL_IB_HCA": "^mlx5_0,mlx5_1:1", "NCCL_DEBUG_FILE": "/tmp/it's here.%h",  # noqa: S108
        "NCCL_ALGO": "allreduce:tree,ring;broadcast:ring", "UCX_NET_DEVICES": '$(touch x) `id` \\ " ~ * & |',
    },
    unset=("NCCL_IB_GID_INDEX", "NCCL_P2P_DISABLE"),
)  # fmt: skip
BEFORE = {"NCCL_IB_GID_INDEX": "3", "NCCL_P2P_DISABLE": "1", "NCCL_SOCKET_IFNAME": "^docker"}
SHOW = 'sh -c \'env -0 | tr "\\n\\0" " \\n"\''  # a variable a line


def environment() -> dict[str, str]:
    """What stands before the fix, with some of the variables set."""
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    clean = {name: value for name, value in os.environ.items() if not name.startswith("NCCL_")}
    return {**clean, **root, **BEFORE}


def seen(script: str, shell: str) -> list[dict[str, str]]:
    """The variables of each process that printed them."""
    done = subprocess.run([shell, "-c", script], capture_output=True, text=True, check=False, env=environment())
    assert done.returncode == 0, done.stderr
    return variables(done.stdout)


def variables(shown: str) -> list[dict[str, str]]:
    """Those of the fix, by process."""
    pairs = [line.partition("=") for line in shown.splitlines()]
    found: list[dict[str, str]] = [{} for name, _, _ in pairs if name == "UCX_NET_DEVICES"]
    for name, _, value in pairs:
        if name in {*CHANGE.env, *CHANGE.unset}:
            next(one for one in found if name not in one)[name] = value
    return found


@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_export_gives_the_values_to_a_program(shell: str) -> None:
    line = render(CHANGE, ["export"])["export"]
    assert seen(f"{line}\n{SHOW}", shell) == [dict(CHANGE.env)]


def test_mpirun_gives_the_values_to_every_rank(need: Callable[[str, object, str], None]) -> None:
    need("mpirun", shutil.which("mpirun"), "Open MPI is not installed (openmpi-bin)")
    line = render(CHANGE, ["mpirun"])["mpirun"]
    assert line.endswith(" ...")
    ranks = seen(line.removesuffix("...") + f"--oversubscribe -np 2 {SHOW}", "sh")
    assert ranks == [dict(CHANGE.env)] * 2


@pytest.mark.root
def test_srun_gives_the_values_to_every_task(need: Callable[[str, object, str], None], tmp_path: Path) -> None:
    """One node, in namespaces that end with it."""
    need("slurm", slurm_node.is_here(), slurm_node.LACKING)
    line = render(CHANGE, ["srun"])["srun"]
    trap = "srun -Q --export=ALL,NCCL_ALGO=tree,ring -n1 sh -c 'echo \"in the list: $NCCL_ALGO\"'"
    script = f"{line.removesuffix('...')} -Q -n2 {SHOW}\n{trap}"
    shown = slurm_node.run(script, tmp_path, environment())
    assert shown.returncode == 0, shown.stderr[-2000:]
    assert variables(shown.stdout) == [dict(CHANGE.env)] * 2
    assert "in the list: tree\n" in shown.stdout, "why the line does not use srun's own list: it ends at the comma"
