"""A real Slurm: slurmctld and a slurmd a node, in namespaces that end with the script, as root, without munge."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

LACKING = "Slurm is not installed (slurmctld, slurmd, slurm-client), or not root"
START = """
hostname localhost
ip link set lo up; ip link add e0 type veth peer name e1; ip addr add 10.0.0.1/24 dev e0; ip link set e0 up
mkdir state spool
cat > slurm.conf <<END
ClusterName=test
SlurmctldHost=localhost(127.0.0.1)
AuthType=auth/none
CredType=cred/none
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$PWD/state
SlurmdSpoolDir=$PWD/spool/%n
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
$EXTRA
PartitionName=all Nodes=ALL Default=YES State=UP
END
port=17000
for node in $NODES; do
    port=$((port + 1))
    echo "NodeName=$node NodeHostname=localhost NodeAddr=127.0.0.1 Port=$port CPUs=4" >> slurm.conf
done
export SLURM_CONF=$PWD/slurm.conf
slurmctld -D > /dev/null 2>&1 &
for node in $NODES; do
    mkdir -p spool/$node
    slurmd -D -N $node > /dev/null 2>&1 &
done
tries=0
until srun -Q -I30 -N$(echo $NODES | wc -w) true > srun.log 2>&1; do
    tries=$((tries + 1)); [ $tries -gt 60 ] && { cat srun.log slurmctld.log slurmd-*.log >&2; exit 9; }; sleep 0.5
done
"""


def is_here() -> bool:
    """Can a node be started here?"""
    programs = ("slurmctld", "slurmd", "srun")
    return os.geteuid() == 0 and all(shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin") for name in programs)


def run(
    script: str, folder: Path, environment: Mapping[str, str], settings: str = "", nodes: str = "localhost"
) -> subprocess.CompletedProcess[str]:
    """Run the script of a shell once the nodes take jobs; ``settings`` are more lines of slurm.conf, ``nodes`` the
    names of the nodes, all on this machine."""
    return subprocess.run(
        ["unshare", "-n", "-u", "-p", "-f", "--mount-proc", "--kill-child", "sh", "-c", f"{START}\n{script}"],
        cwd=folder, capture_output=True, text=True, check=False,
        env={**environment, "PATH": f"{os.environ['PATH']}:/usr/sbin", "EXTRA": settings, "NODES": nodes},
    )  # fmt: skip
