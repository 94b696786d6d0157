"""``ncdiag run`` and ``watch`` on a job that prints nothing: since when, how far it came, and what its processes do."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from processes import until

from ncdiag.apps.watching import standing

Run = Callable[..., subprocess.CompletedProcess[bytes]]

INIT = "n2:{pid}:{pid} [3] NCCL INFO ncclCommInitRank comm 0x5581 rank 3 nranks 8 cudaDev 3 nvmlDev 3 busId 6a000 "
STARTS = INIT + "commId 0x7f1 - Init START"
COMPLETE = INIT + "commId 0x7f1 - Init COMPLETE"
RANK = "import os, time; print({line!r}.format(pid=os.getpid()), flush=True); {then}"


def report_of(program: list[str], report: Path, mark: str, *job: str, after: str = "0.3") -> dict[str, Any]:
    """The first report on a job that hangs; the job is ended afterwards."""
    words = [*program, "run", "--hang-after", after, "--format", "json", "-o", str(report), "--", *job]
    env = {**os.environ, "NCDIAG_TEST_JOB": mark}
    with subprocess.Popen(
        words, env=env, start_new_session=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert until(report.exists)
        found: dict[str, Any] = json.loads(report.read_text())
        process.terminate()
        process.send_signal(signal.SIGCONT)
        process.communicate()
    return found


def titles(report: dict[str, Any]) -> dict[str, str]:
    """The titles of the errors, by rule."""
    return {each["name"]: each["title"] for each in report["findings"] if each["severity"] == "error"}


def test_a_job_that_prints_nothing_hangs_before_nccl(program: list[str], tmp_path: Path, mark: str) -> None:
    report = report_of(program, tmp_path / "report.json", mark, "sleep", "1000")
    (title,) = titles(report).values()
    assert title.startswith("HANGS: no output for ")
    assert "before NCCL printed a line; sleep (PID " in title
    assert " sleeps (S" in title
    assert report["summary"]["verdict"] == "failed-cause-not-here"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (STARTS, "during the bootstrap of NCCL; communicator 0x7f1: ranks 3 of 8 on n2 began, none completed, 0-2,4-7"),
        (COMPLETE, "after its communicator was complete; rank 3 (PID "),
    ],
)  # fmt: skip
def test_the_phase_and_the_ranks_that_did_not_arrive_are_named(
    program: list[str], tmp_path: Path, mark: str, line: str, words: str
) -> None:
    train = tmp_path / "train.py"
    train.write_text(RANK.format(line=line, then="time.sleep(1000)"))
    report = report_of(program, tmp_path / "report.json", mark, sys.executable, str(train), after="1")
    assert words in titles(report)["job-hangs-silently"]


def test_a_process_that_was_stopped_is_the_cause(program: list[str], tmp_path: Path, mark: str) -> None:
    train = tmp_path / "train.py"
    train.write_text(RANK.format(line=COMPLETE, then=f"os.kill(os.getpid(), {int(signal.SIGSTOP)})"))
    job = ("sh", "-c", '"$@" & wait', "", sys.executable, str(train))
    report = report_of(program, tmp_path / "report.json", mark, *job, after="1")
    assert report["summary"]["root_cause"] == "job-process-held"
    title = titles(report)["job-process-held"]
    assert title.startswith("The job waits because rank 3 (PID ")
    assert "is stopped (T" in title
    (fix,) = next(each for each in report["findings"] if each["name"] == "job-process-held")["fixes"][:1]
    assert "kill -CONT " in json.dumps(fix)


def test_a_job_that_prints_and_one_that_ended_do_not_hang(ncdiag_process: Run, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    for after, script in (("0.5", "sleep 2"), ("60", "for i in 1 2 3; do echo $i; sleep 0.1; done")):
        done = ncdiag_process("run", "--hang-after", after, "--format", "json", "-o", report, "--", "sh", "-c", script)
        assert done.returncode == 0
        assert (b"has printed nothing for" in done.stderr) == (script == "sleep 2")
        assert titles(json.loads(report.read_text())) == {}


@pytest.mark.parametrize(
    ("text", "code"),
    [(STARTS.format(pid=40), 1), (f"{STARTS}\n{COMPLETE}\nTraining finished.\n".format(pid=40), 0), ("loading\n", 3)],
)  # fmt: skip
def test_logs_that_stop_growing_show_a_hang_of_a_job_that_began_and_did_not_end(
    program: list[str], tmp_path: Path, text: str, code: int
) -> None:
    (tmp_path / "job.log").write_text(text)
    words = [*program, "watch", "--hang-after", "0.2", str(tmp_path / "job.log")]
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        assert b"following 1 log; " in process.stderr.readline()
        assert b"the logs did not grow for" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate()
    assert (b"HANGS: no output for " in out) == (code == 1)
    assert process.returncode == code


def test_a_process_that_waits_for_a_device_is_read_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is reported as it is the second time: a disk answers soon."""
    for pid, name, wchan in ((40, "python", "rpc_wait_bit_killable"), (41, "a\\nb c", "0")):
        (tmp_path / str(pid)).mkdir()
        (tmp_path / str(pid) / "status").write_text(f"Name:\t{name}\nState:\tD (disk sleep)\n")
        (tmp_path / str(pid) / "wchan").write_text(wchan)

    def answers(_: float) -> None:
        (tmp_path / "41" / "status").write_text("Name:\ta\\nb c\nState:\tS (sleeping)\n")

    monkeypatch.setattr("time.sleep", answers)
    assert list(standing.standing([40, 41, 42], tmp_path)) == [
        "process 40 of the silent job is in state D, waits at rpc_wait_bit_killable: python",
        "process 41 of the silent job is in state S, waits at -: a\\nb c",
    ]
