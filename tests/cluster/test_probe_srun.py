"""`ncdiag probe --via srun` in a real Slurm: three nodes on one machine, in namespaces that end with the test."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

SLURM = """
hostname localhost
ip link set lo up; ip link add e0 type veth peer name e1; ip addr add 10.0.0.1/24 dev e0
ip link set e0 up; ip link set e1 up
mkdir state spool-n1 spool-n2 spool-n3
cat > slurm.conf <<END
ClusterName=test
SlurmctldHost=localhost(127.0.0.1)
AuthType=auth/none
CredType=cred/none
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$PWD/state
SlurmdSpoolDir=$PWD/spool-%n
SlurmctldPidFile=$PWD/slurmctld.pid
SlurmdPidFile=$PWD/slurmd-%n.pid
SlurmctldLogFile=$PWD/slurmctld.log
SlurmdLogFile=$PWD/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
JobAcctGatherType=jobacct_gather/none
SlurmdParameters=config_overrides
ReturnToService=2
NodeName=n[1-3] NodeHostname=localhost NodeAddr=127.0.0.1 Port=[17101-17103] CPUs=4
PartitionName=all Nodes=n[1-3] Default=YES State=UP
END
export SLURM_CONF=$PWD/slurm.conf
slurmctld -D > /dev/null 2>&1 &
for n in n1 n2 n3; do slurmd -D -N $n > /dev/null 2>&1 & done
tries=0
until srun -Q -I30 -N3 true > srun.log 2>&1; do
    tries=$((tries + 1)); [ $tries -gt 60 ] && { cat srun.log slurmctld.log slurmd-n1.log >&2; exit 9; }; sleep 0.5
done
"$@" || exit $?
tries=0
while ps ax | grep -q 'base64.b64[d]ecode'; do
    tries=$((tries + 1)); [ $tries -gt 60 ] && { echo "an agent was left" >&2; exit 8; }; sleep 0.5
done
"""


@pytest.mark.root
def test_the_nodes_of_slurm_try_each_other(
    need: Callable[[str, object, str], None], program: list[str], tmp_path: Path
) -> None:
    path = f"{os.environ['PATH']}:/usr/sbin"
    there = all(shutil.which(name, path=path) for name in ("slurmctld", "slurmd", "srun"))
    need("slurm", there and os.geteuid() == 0, "Slurm is not installed (slurmctld, slurmd, slurm-client), or not root")
    line = [*program, "probe", "--nodes", "n[1-3]", "--via", "srun", "--save", "x.txt", "--fail-on", "never"]
    done = subprocess.run(
        ["unshare", "-n", "-u", "-p", "-f", "--mount-proc", "--kill-child", "sh", "-c", SLURM, "sh", *line],
        cwd=tmp_path, capture_output=True, text=True, check=False, env={**os.environ, "PATH": path},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    assert "probe of 3 hosts: 3 took part" in done.stderr
    tried = [line for line in (tmp_path / "x.txt").read_text().splitlines() if " -> " in line and " port " not in line]
    assert len(tried) == 6
    assert all("256 KiB both ways" in line for line in tried)
