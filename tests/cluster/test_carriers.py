"""What else carries a sweep: mpirun over real hosts, and kubectl, for which a stand-in knows three pods."""

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
from processes import until

from ncdiag.apps.cluster.model import Wish
from ncdiag.apps.cluster.sweep import sweep_hosts as asked

Sweep = Callable[..., subprocess.CompletedProcess[bytes]]

KUBECTL = r"""#!/bin/bash
# kubectl get pods -l LABELS -o json, and kubectl exec -i POD -- COMMAND
for word; do case $word in get|exec) verb=$word;; esac; done
if [ "$verb" = get ]; then
    case "$*" in *app=train*) ;; *) echo '{"items": []}'; exit;; esac
    echo '{"items": [{"metadata": {"name": "train-0"}, "status": {"phase": "Running"}},
                     {"metadata": {"name": "train-1"}, "status": {"phase": "Running"}},
                     {"metadata": {"name": "train-2"}, "status": {"phase": "Pending"}}]}'
    exit
fi
while [ "$1" != -i ]; do shift; done
pod=$2; shift 3
[ "$pod" = train-1 ] && { echo 'error: unable to upgrade connection: container not found' >&2; exit 1; }
exec unshare -u sh -c 'hostname "$0" && exec "$@"' "$pod" "$@"
"""


@pytest.mark.root
@pytest.mark.xdist_group("fleet")
@pytest.mark.parametrize("push", [False, pytest.param(True, marks=pytest.mark.long)], ids=["installed", "pushed"])
def test_mpirun(fleet: Hosts, sweep: Sweep, need: Callable[[str, object, str], None], push: bool) -> None:
    need("mpirun", shutil.which("mpirun"), "Open MPI is not installed (openmpi-bin)")
    options = ["--ssh-options", f"--mca plm_rsh_args '{fleet.ssh}'", *(["--push"] if push else [])]
    done = sweep("check", "--nodes", "n1:8,n2:8,n3:8", "--format", "json", *options, via="mpirun")
    silent = [f["evidence"] for f in json.loads(done.stdout)["findings"] if f["name"] == "host-unanswered"]
    assert silent == []
    assert b"3 of 3 hosts answered" in done.stderr
    assert {"n1", "n2", "n3"} <= {item["source"] for item in json.loads(done.stdout)["inputs"]}
    assert until(lambda: all(len(fleet.pids(host)) == len(fleet.pids("n4")) for host in ("n1", "n2", "n3")))


@pytest.mark.root
def test_srun(program: list[str], tmp_path: Path, need: Callable[[str, object, str], None]) -> None:
    """Three slurmd; one node is drained, one that is asked for is not there."""
    need("slurm", slurm_node.is_here(), slurm_node.LACKING)
    check = shlex.join([*program, "check", "--nodes", "n[1-4]", "--via", "srun", "--format", "json"])
    drain = "scontrol update NodeName=n3 State=DRAIN Reason='bad cable'"
    script = f"{drain}\n{check}\n{check} --push --nodes n[1-2] > pushed.json\nsqueue -h | wc -l > left"
    done = slurm_node.run(script, tmp_path, os.environ, nodes="n1 n2 n3")
    assert "2 of 4 hosts answered" in done.stderr
    assert "2 of 2 hosts answered" in done.stderr
    told = json.loads(done.stdout)
    silent = {f["hosts"]: f["title"] for f in told["findings"] if f["name"] == "host-unanswered"}
    assert silent["n3"].endswith("Slurm says that it is drained (bad cable)")
    assert silent["n4"].endswith("Slurm does not know it")
    assert {"n1", "n2"} <= {item["source"] for item in told["inputs"]}
    assert (tmp_path / "left").read_text().strip() == "0"


@pytest.mark.root
def test_kubectl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, need: Callable[[str, object, str], None]) -> None:
    need("root", os.geteuid() == 0, "another name for a host takes root")
    tool = tmp_path / "kubectl"
    tool.write_text(KUBECTL)
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    found = {machine.host: machine for machine in asked("app=train", None, Wish(options="--namespace jobs"))}
    assert not found["train-0"].is_silent
    why = "exit status 1: error: unable to upgrade connection: container not found"
    assert list(found["train-1"].not_seen()) == [why]
    assert found["train-2"].is_silent
    assert list(found["train-2"].not_seen()) == ["the pod is Pending"]
