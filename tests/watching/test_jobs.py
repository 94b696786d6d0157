"""``ncdiag check --pid`` and ``--job`` on a running job that ncdiag did not start."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
from hanging import TRAIN, needs_py_spy, write_library
from processes import left_running, running, until

from ncdiag.apps.watching import jobs
from ncdiag.base.errors import UsageError

Run = Callable[..., Any]


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Callable[..., int]]:
    """``started("wait", "load", SLURM_JOB_ID="8")``: the first process of a job whose ranks do this, once all run."""
    word = uuid.uuid4().hex
    write_library(tmp_path)
    (tmp_path / "train.py").write_text(TRAIN)
    begun: list[subprocess.Popen[bytes]] = []

    def start(*words: str, **variables: str) -> int:
        before = len(running(word))
        env = {**os.environ, **variables, "NCDIAG_TEST_JOB": word}
        begun.append(subprocess.Popen([sys.executable, str(tmp_path / "train.py"), *words], env=env))
        assert until(lambda: len(running(word)) == before + 1 + len(words))
        assert until(lambda: all(_waits(pid) for pid in running(word)))
        return begun[-1].pid

    yield start
    for pid in running(word):
        os.kill(pid, signal.SIGKILL)
    for process in begun:
        process.wait()
    assert left_running(word) == []


def _waits(pid: int) -> bool:
    """Does the process sleep, or is it stopped, as all do at the end of their start?"""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ST"


def checked(ncdiag: Run, *options: str) -> dict[str, Any]:
    """The report of ``ncdiag check``."""
    found: dict[str, Any] = json.loads(ncdiag("check", "--no-nccl", "--format", "json", *options).stdout)
    return found


@needs_py_spy
def test_the_rank_that_holds_a_running_job_is_named(ncdiag: Run, started: Callable[..., int]) -> None:
    pid = started("wait", "load", "wait", MASTER_ADDR="n1", MASTER_PORT="29531")
    rank = next(each for each in jobs.of_process(pid)[1] if each != pid)
    for number in (pid, rank):
        report = checked(ncdiag, "--pid", str(number))
        assert report["summary"]["root_cause"] == "process-elsewhere"
        assert report["findings"][0]["title"].startswith("Late, by the stacks: rank 1 is loading data (__next__, from ")
        assert "ranks 0,2 wait in a collective" in report["findings"][0]["title"]


def test_a_stopped_process_is_the_cause_without_any_stack(ncdiag: Run, started: Callable[..., int]) -> None:
    started("wait", "stop", SLURM_JOB_ID="812001")
    report = checked(ncdiag, "--job", "812001", "--stacks", "never")
    assert report["summary"]["root_cause"] == "job-process-held"
    assert "is stopped (T" in report["findings"][0]["title"]


@needs_py_spy
def test_a_job_that_waits_together_has_no_late_rank(ncdiag: Run, started: Callable[..., int]) -> None:
    pid = started("wait", "wait")
    report = checked(ncdiag, "--pid", str(pid))
    names = {finding["name"] for finding in report["findings"]}
    assert "processes-wait-together" in names
    assert not {"process-elsewhere", "job-process-held"} & names


def test_of_several_jobs_one_is_to_be_chosen(ncdiag: Run, started: Callable[..., int]) -> None:
    first = started("wait", "wait", MASTER_ADDR="n1", MASTER_PORT="29532")
    second = started("wait", "wait", PMIX_NAMESPACE="prte-n1@1")
    done = ncdiag("check", "--job", "auto")
    assert done.returncode == 2
    assert f"MASTER_ADDR=n1 MASTER_PORT=29532 (3 processes): --pid {first}".encode() in done.stderr
    assert f"PMIX_NAMESPACE=prte-n1@1 (3 processes): --pid {second}".encode() in done.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--job", "99999999"), b"no process "),
        (("--pid", "4194305"), b"process 4194305"),
        (("--job", "8\x1b[31m"), b"no process "),
    ],
)  # fmt: skip
def test_a_job_that_is_not_there_is_a_sentence(ncdiag: Run, options: tuple[str, ...], words: bytes) -> None:
    done = ncdiag("check", *options)
    assert done.returncode == 2
    assert words in done.stderr
    assert b"\x1b" not in done.stderr
    assert done.stderr.count(b"\n") == 1


def test_the_closest_name_of_a_job_is_used(tmp_path: Path) -> None:
    """A process that ended meanwhile and one whose environment may not be read belong to none."""
    for pid, environ in {
        10: "SLURM_JOB_ID=8", 11: "SLURM_JOB_ID=8\0MASTER_ADDR=n1\0MASTER_PORT=1",
        12: "SLURM_JOB_ID=9\0PMIX_NAMESPACE=a@1\0BAD\0=\0\xff", 13: "MASTER_ADDR=n1",
    }.items():  # fmt: skip
        (tmp_path / str(pid)).mkdir()
        (tmp_path / str(pid) / "environ").write_text(environ, encoding="latin-1")
    (tmp_path / "14").mkdir()
    assert jobs.of_process(11, tmp_path) == ("MASTER_ADDR=n1 MASTER_PORT=1", [11])
    assert jobs.of_process(14, tmp_path) == ("of process 14", [14])
    assert jobs.of_name("8", tmp_path) == ("SLURM_JOB_ID=8", [10, 11])
    with pytest.raises(UsageError, match=r"which job\?; the jobs here are SLURM_JOB_ID=8 .1 processes.: --pid 10; MAS"):
        jobs.of_name("auto", tmp_path)


@needs_py_spy
def test_the_hosts_of_a_job_are_judged_as_one(
    ncdiag: Run, started: Callable[..., int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stand-ins for two hosts, that of rank 1 without any process of another rank."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "ssh").write_text('#!/bin/sh\nfor command; do :; done\nexec sh -c "$command"\n')
    (tmp_path / "bin" / "ssh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    pid = started("wait", "load", "wait", MASTER_ADDR=f"n1'; touch {tmp_path}/x; '", MASTER_PORT="29533")
    report = checked(ncdiag, "--nodes", "host1,host2", "--via", "ssh", "--pid", str(pid))
    found = next(finding for finding in report["findings"] if finding["name"] == "process-elsewhere")
    assert "rank 1 is loading data (__next__, from " in found["title"]
    assert "ranks 0,2 wait in a collective" in found["title"]
    assert not (tmp_path / "x").exists()


def test_what_cannot_be_asked_of_other_hosts_is_a_sentence(ncdiag: Run, started: Callable[..., int]) -> None:
    pid = started("wait", "wait")
    nameless = ncdiag("check", "--nodes", "host1", "--pid", str(pid))
    pushed = ncdiag("check", "--nodes", "host1", "--job", "8", "--push")
    assert (nameless.returncode, pushed.returncode) == (2, 2)
    assert b"does not name its job" in nameless.stderr
    assert b"the hosts need an installed ncdiag" in pushed.stderr


@pytest.mark.parametrize(("age", "root"), [(86400 / 4, "job-process-held"), (-1, "oom-killed")])
def test_a_kill_counts_only_since_the_job_began(
    ncdiag: Run, started: Callable[..., int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, age: float, root: str
) -> None:
    """A stand-in for dmesg prints a kill of some hours before the job began, or one of a process of the job."""
    started("wait", "stop", SLURM_JOB_ID="812002")
    when = datetime.fromtimestamp(time.time() - age, timezone.utc).isoformat(timespec="microseconds").replace(".", ",")
    line = f"{when} Out of memory: Killed process 4127 (python3) total-vm:81234kB, anon-rss:7123kB"
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "dmesg").write_text(f"#!/bin/sh\necho '{line}'\n")
    (tmp_path / "bin" / "dmesg").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    report = checked(ncdiag, "--job", "812002", "--stacks", "never")
    assert report["summary"]["root_cause"] == root
    assert ("oom-killed" in {finding["name"] for finding in report["findings"]}) == (root == "oom-killed")
