"""What a restart is worth: a field of the report, and a line on the screen."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

INIT = "NCCL INFO ncclCommInitRank comm 0x5 rank {n} nranks 4 cudaDev 0 busId 6a000 commId 0x7 - Init START"
LOG = "".join(f"n{n}:10:10 [0] {INIT.format(n=n)}\n" for n in range(4))
XID = "[Sun Mar  1 10:00:00 2026] NVRM: Xid (PCI:0000:6a:00): 79, pid=10, GPU has fallen off the bus.\n"
CANCELLED = "slurmstepd: error: *** JOB 812 ON n1 CANCELLED AT 2026-03-01T10:00:00 DUE TO TIME LIMIT ***\n"
MEMLOCK = "n2:10:12 [0] NCCL WARN Call to ibv_create_qp failed with error Cannot allocate memory errno 12\n"


@pytest.mark.parametrize(
    ("text", "word", "hosts"),
    [
        ("root@n1:~# dmesg -T\n" + XID, "restart-without-hosts", "n1"),
        (CANCELLED, "restart", ""),
        ("NameError: name 'x' is not defined\ntorch.cuda.OutOfMemoryError: CUDA out of memory.\n", "fix-first", ""),
        ("n1:10:10 [0] NCCL INFO comm 0x5 rank 0 nranks 1 cudaDev 0 busId 6a000 - Init COMPLETE\n", None, ""),
        ("", None, ""),
        ("n1:10:10 [0] NCCL WARN nobody has seen this warning before\n", None, ""),
    ],
)  # fmt: skip
def test_the_class_of_the_cause_decides(ncdiag: Run, text: str, word: str | None, hosts: str) -> None:
    report = json.loads(ncdiag("triage", "--format", "json", "-", input=text.encode()).stdout)
    found = report.get("restart") or {}
    assert (found.get("word"), found.get("hosts", "")) == (word, hosts)
    screen = ncdiag("triage", "-", input=text.encode()).stdout.decode()
    said = [line for line in screen.splitlines() if line.startswith("Restart: ")]
    assert len(said) == (word is not None)
    whole = ncdiag("triage", "-v", "-", input=text.encode()).stdout.decode()
    assert ("\nRestart: " in whole) == (word is not None)
    assert word is None or said[0].startswith(f"Restart: {word.replace('-', ' ')}"[:20])


def test_a_fault_of_one_host_of_many_is_left_behind(ncdiag: Run, tmp_path: Path) -> None:
    """Locked memory can be raised, but until then the job runs without the host."""
    (tmp_path / "job.log").write_text(LOG + MEMLOCK + "n2:10:12 [0] NCCL INFO ib_plugin.c:600 -> 2\n")
    (tmp_path / "n2.txt").write_text("root@n2:~# ulimit -l\n64\n")
    report = json.loads(ncdiag("triage", "--format", "json", tmp_path).stdout)
    assert (report["restart"]["word"], report["restart"]["hosts"]) == ("restart-without-hosts", "n2")
    assert report["restart"]["cause"] == report["summary"]["root_cause"] == "memlock-too-low"
    assert "Restart: restart without n2 (only these hosts have the fault)" in ncdiag("triage", tmp_path).stdout.decode()
