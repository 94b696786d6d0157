"""``ncdiag check --job ID --nodes``: one picture of a job on hosts of their own processes, behind their own sshd."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from hanging import TRAIN, needs_py_spy, write_library
from hosts import hosts, missing
from processes import until

COUNT = 8


@needs_py_spy
def test_a_job_that_hangs_on_eight_hosts_is_judged_as_one(
    need: Callable[[str, object, str], None], tmp_path: Path, program: list[str]
) -> None:
    """Two ranks on each host; the sixth loads data, and one of the last host is stopped."""
    why = missing()
    need("sshd", not why, why)
    write_library(tmp_path)
    (tmp_path / "train.py").write_text(TRAIN)
    own_processes = 'exec unshare -fp --mount-proc "$@";'
    does = {5: "load", 15: "stop"}
    with hosts(tmp_path, COUNT, lambda _: own_processes) as made:
        for number, name in enumerate(made.names):
            ranks = [
                f"env SLURM_JOB_ID=812077 RANK={rank} setsid {sys.executable} {tmp_path}/train.py "
                f"{does.get(rank, 'wait')} >/dev/null 2>&1 </dev/null &"
                for rank in (2 * number, 2 * number + 1)
            ]
            done = subprocess.run(
                [*made.head, "ssh", *shlex.split(made.ssh), name, "\n".join(ranks)], capture_output=True, check=False
            )
            assert done.returncode == 0, done.stderr
        line = [*made.head, *program, "check", "--nodes", "n[1-8]", "--job", "812077", "--via", "ssh", "--no-nccl"]
        line += ["--ssh-options", made.ssh, "--format", "json"]
        assert until(lambda: _asleep(made.names, made.pids))
        done = subprocess.run(line, capture_output=True, check=False, stdin=subprocess.DEVNULL, env=dict(os.environ))
    report = json.loads(done.stdout)
    assert b"8 of 8 hosts answered" in done.stderr
    titles = {each["name"]: each["title"] for each in report["findings"]}
    assert report["summary"]["root_cause"] == "job-process-held"
    assert titles["job-process-held"].startswith("The job waits because rank 15 on n8 (PID ")
    assert "rank 5 is loading data (__next__" in titles["process-elsewhere"]
    assert "; ranks 0-4,6-14 wait in a collective (all_reduce" in titles["process-elsewhere"]


def _asleep(names: list[str], pids: Callable[[str], list[int]]) -> bool:
    """Do all sixteen ranks sleep, or are they stopped, in what they wait in?"""
    states = [
        Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        for name in names for pid in pids(name) if b"train.py" in Path(f"/proc/{pid}/cmdline").read_bytes()
    ]  # fmt: skip
    return len(states) == 2 * COUNT and set(states) == {"S", "T"}
