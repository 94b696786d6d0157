"""``ncdiag run`` says of a job that failed how it ended: real processes that end in each way."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[bytes]]

INIT = (
    "{host}:{pid}:{pid} [3] NCCL INFO ncclCommInitRank comm 0x5581 rank 3 nranks 8 cudaDev 3 nvmlDev 3 busId 6a000 "
    "commId 0x7f1 - Init COMPLETE"
)
RANK = f"import os, sys; print({INIT!r}.format(host='n2', pid=os.getpid()), flush=True)\n"
STARTED = "the process that was started (PID {pid})"
RANK_3 = "rank 3 on n2 (PID {pid}), after its communicator was complete"


def findings(done: subprocess.CompletedProcess[bytes], output: Path) -> dict[str, str]:
    """The titles of the findings, by rule; each is an error."""
    found = json.loads(output.read_text())["findings"]
    assert all(each["severity"] == "error" for each in found), found
    assert b"no fault found" not in done.stderr
    return {each["name"]: each["title"] for each in found}


@pytest.mark.parametrize(
    ("code", "status", "title"),
    [
        ("os.kill(os.getpid(), 11)", -11, "CRASHED: SIGSEGV"), ("os.abort()", -6, "CRASHED: SIGABRT"),
        ("sys.exit(3)", 3, "FAILED: exit code 3"), ("os.kill(os.getpid(), 9)", -9, "KILLED: SIGKILL"),
        ("os.kill(os.getpid(), 15)", -15, "STOPPED: SIGTERM"),
    ],
)  # fmt: skip
def test_the_end_of_a_rank_is_a_finding(
    ncdiag_process: Run, tmp_path: Path, code: str, status: int, title: str
) -> None:
    program = tmp_path / "train.py"
    program.write_text(RANK + code)
    report = tmp_path / "report.json"
    done = ncdiag_process("run", "--format", "json", "-o", report, "--", sys.executable, program)
    assert done.returncode == status
    pid = done.stdout.split(b":")[1].decode()
    assert findings(done, report) == {"job-failed-silently": f"{title} in {RANK_3.format(pid=pid)}"}


@pytest.mark.parametrize(
    ("script", "title"),
    [
        ("exit 127", f"FAILED: exit code 127 (the command was not found) in {STARTED}"),
        ("exit 126", f"FAILED: exit code 126 (the command could not be run) in {STARTED}"),
        ("exit 139", "CRASHED: SIGSEGV (exit code 139) in a process of the job"),
        ("exit 143", "STOPPED: SIGTERM (exit code 143) in a process of the job"),
        ("exit 134", "CRASHED: SIGABRT (exit code 134) in a process of the job"),
        ("exit 137", "KILLED: SIGKILL (exit code 137) in a process of the job"),
    ],
)  # fmt: skip
def test_an_exit_code_is_given_with_its_meaning(ncdiag_process: Run, tmp_path: Path, script: str, title: str) -> None:
    report = tmp_path / "report.json"
    done = ncdiag_process("run", "--format", "json", "-o", report, "--", "sh", "-c", f"echo $$; {script}")
    assert findings(done, report) == {"job-failed-silently": title.format(pid=done.stdout.decode().strip())}


def test_a_signal_that_a_launcher_reports_is_that_of_the_rank(ncdiag_process: Run, tmp_path: Path) -> None:
    script = (
        "echo 'n2:4127:4127 [3] NCCL INFO ncclCommInitRank comm 0x5581 rank 3 nranks 8 cudaDev 3 nvmlDev 3 busId 6a000 "
        "commId 0x7f1 - Init COMPLETE'; echo 'mpirun noticed that process rank 3 with PID 4127 on node n2 exited on "
        "signal 11 (Segmentation fault).' >&2; exit 139"
    )
    report = tmp_path / "report.json"
    done = ncdiag_process("run", "--format", "json", "-o", report, "--", "sh", "-c", script)
    title = "CRASHED: SIGSEGV in " + RANK_3.format(pid=4127)
    assert findings(done, report) == {"rank-crashed-first": title}


def test_a_job_that_ncdiag_stopped_was_not_killed_by_somebody_else(ncdiag_process: Run, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    options = ["--hang-after", "0.2", "--kill-on-hang", "--kill-grace", "0.1", "--format", "json", "-o", report]
    done = ncdiag_process("run", *options, "--", "sleep", "1000", env={"TMPDIR": str(tmp_path)})
    titles = findings(done, report)
    assert titles["job-failed-silently"].startswith("STOPPED by ncdiag: no output for ")
    assert titles["job-hangs-silently"].startswith("HANGS: no output for ")
    assert json.loads(report.read_text())["findings"][0]["name"] == "job-hangs-silently"


@pytest.fixture
def memory_group() -> Iterator[Path]:
    """A control group with a limit of 60 MB; skips the test where none can be made."""
    name = f"ncdiag-test-{uuid.uuid4().hex}"
    for root, limit in (
        (Path("/sys/fs/cgroup/memory"), "memory.limit_in_bytes"),
        (Path("/sys/fs/cgroup"), "memory.max"),
    ):
        group = root / name
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            (group / limit).write_text("60000000")
        except OSError:  # the controller is not enabled here
            group.rmdir()
            continue
        yield group
        group.rmdir()
        return
    pytest.skip("no control group with a limit of memory can be made here")


@pytest.mark.skipif(
    not os.environ.get("NCDIAG_OOM"), reason="leaves lines in the kernel's log of this machine: NCDIAG_OOM=1 (make lab)"
)
def test_a_kill_for_lack_of_memory_is_the_cause(ncdiag_process: Run, tmp_path: Path, memory_group: Path) -> None:
    script = f"echo $$ > {memory_group}/cgroup.procs && exec {sys.executable} -c 'bytearray(300_000_000)'"
    report = tmp_path / "report.json"
    done = ncdiag_process("run", "--format", "json", "-o", report, "--", "sh", "-c", script)
    assert done.returncode == -9
    found = findings(done, report)
    assert found["oom-killed"].endswith("was killed for lack of host memory")
    assert "job-failed-silently" not in found


def test_a_kill_by_a_person_is_not_lack_of_memory(ncdiag_process: Run, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    done = ncdiag_process("run", "--format", "json", "-o", report, "--", "sh", "-c", "kill -9 $$")
    assert "oom-killed" not in findings(done, report)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads the kernel's log")
def test_a_log_of_the_kernel_that_may_not_be_read_is_named(ncdiag_process: Run, tmp_path: Path) -> None:
    if os.access("/dev/kmsg", os.R_OK):
        pytest.skip("everybody reads the kernel's log here")
    report = tmp_path / "report.json"
    ncdiag_process("run", "--format", "json", "-o", report, "--", "sh", "-c", "kill -9 $$")
    assert "the kernel's log" in report.read_text()
