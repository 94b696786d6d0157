"""`ncdiag probe --via srun` in a real Slurm: three nodes on one machine, in namespaces that end with the test."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
import slurm_node

LEFT = """
tries=0
while ps ax | grep -q 'base64.b64[d]ecode'; do
    tries=$((tries + 1)); [ $tries -gt 60 ] && { echo "an agent was left" >&2; exit 8; }; sleep 0.5
done
"""


@pytest.mark.root
def test_the_nodes_of_slurm_try_each_other(
    need: Callable[[str, object, str], None], program: list[str], tmp_path: Path
) -> None:
    need("slurm", slurm_node.is_here(), slurm_node.LACKING)
    probe = [*program, "probe", "--nodes", "n[1-3]", "--via", "srun", "--save", "x.txt", "--fail-on", "never"]
    script = f"ip link set e1 up; {shlex.join(probe)} || exit $?\n{LEFT}"
    done = slurm_node.run(script, tmp_path, os.environ, nodes="n1 n2 n3")
    assert done.returncode == 0, done.stderr[-2000:]
    assert "probe of 3 hosts: 3 took part" in done.stderr
    tried = [line for line in (tmp_path / "x.txt").read_text().splitlines() if " -> " in line and " port " not in line]
    assert len(tried) == 6
    assert all("256 KiB both ways" in line for line in tried)


@pytest.mark.root
@pytest.mark.long
def test_a_node_that_drains_is_asked_within_its_allocation(
    need: Callable[[str, object, str], None], program: list[str], tmp_path: Path
) -> None:
    """It takes no new job and goes on with those that it has: outside of them it is named as draining."""
    need("slurm", slurm_node.is_here(), slurm_node.LACKING)
    probe = shlex.join([*program, "probe", "--nodes", "n[1-2]", "--via", "srun", "--fail-on", "never"])
    script = f"""
    ip link set e1 up
    salloc -Q -N2 -w 'n[1-2]' sh -c '
        scontrol update nodename=n2 state=drain reason=disk
        sinfo -N -h -o "%N %T"
        exec {probe} --save inside.txt
    ' || exit $?
    salloc -Q -N1 -w n1 sh -c 'exec {probe} --save outside.txt' || exit $?
    """
    done = slurm_node.run(script, tmp_path, os.environ, nodes="n1 n2")
    assert done.returncode == 0, done.stderr[-2000:]
    assert "n2 draining" in done.stdout
    assert "probe of 2 hosts: 2 took part" in (tmp_path / "inside.txt").read_text()
    outside = (tmp_path / "outside.txt").read_text()
    assert "ncdiag: n2 gave no answer to the sweep by srun: Slurm says that it is drain" in outside
    assert "srun --nodelist=n2" in done.stdout


@pytest.mark.root
def test_options_of_ssh_are_none_of_srun(
    need: Callable[[str, object, str], None], program: list[str], tmp_path: Path
) -> None:
    """Inside an allocation srun asks the nodes, and its -o names a file for all that they answer."""
    need("slurm", slurm_node.is_here(), slurm_node.LACKING)
    launch = "mpirun -H n1:1,n2:1 --mca plm_rsh_args '-o StrictHostKeyChecking=no' hostname"
    probe = shlex.join([*program, "probe", "--launch", launch, "--save", "x.txt", "--fail-on", "never"])
    script = f"ip link set e1 up; salloc -Q -N2 -w 'n[1-2]' sh -c {shlex.quote(f'exec {probe}')} || exit $?"
    done = slurm_node.run(script, tmp_path, os.environ, nodes="n1 n2")
    assert done.returncode == 0, done.stderr[-2000:]
    assert "probe of 2 hosts: 2 took part" in done.stderr
    assert " ssh " not in (tmp_path / "x.txt").read_text()
