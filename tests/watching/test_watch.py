"""``ncdiag watch`` beside a writer: what fails is told while the log still grows, and once."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., subprocess.CompletedProcess[bytes]]


@pytest.fixture
def failing(project: Path) -> bytes:
    return (project / "fixtures" / "cases" / "veth" / "nccl.log").read_bytes()


def watching(program: list[str], *words: str | Path, **options: Any) -> subprocess.Popen[bytes]:  # noqa: ANN401
    defaults: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([*program, "watch", *map(str, words)], **(defaults | options))


def lines_until(process: subprocess.Popen[bytes], words: bytes) -> bytes:
    """What was printed up to the line with these words."""
    assert process.stdout is not None
    said = b""
    while words not in said:
        line = process.stdout.readline()
        assert line, f"{words!r} was not printed: {said!r}"
        said += line
    return said


def test_a_failure_is_told_while_the_log_grows_and_once(program: list[str], tmp_path: Path, failing: bytes) -> None:
    log = tmp_path / "job.log"
    log.write_bytes(b"the job begins\n")
    with watching(program, tmp_path) as process:
        with log.open("ab") as opened:
            opened.write(failing)
            opened.flush()
            said = lines_until(process, b"add -v for the full report")
            opened.write(b"step 1\nstep 2\n")
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate()
    assert said.count(b"ROOT CAUSE") == 1
    assert b"socket-virtual-ifname" in said
    assert (process.returncode, rest) == (1, b"")
    following, nothing = errors.splitlines()
    assert following == (
        b"ncdiag: following 1 log; a failure is reported when it appears, a hang after 300 s without a new line; "
        b"then the processes of this host that write them are examined; Ctrl-C ends with the diagnosis"
    )
    assert nothing == b"ncdiag: nothing new since the last diagnosis"


def test_a_pattern_without_a_file_is_named_and_its_first_file_is_read(program: list[str], tmp_path: Path) -> None:
    with watching(program, tmp_path / "rank*.log", "--hang-after", "1") as process:
        assert process.stderr is not None
        announced = process.stderr.readline()
        (tmp_path / "rank0.log").write_bytes(b"n1:7:7 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.1<0>\n")
        silent = process.stderr.readline()
        process.send_signal(signal.SIGINT)
        process.communicate()
    assert b"following 0 logs (" in announced
    assert b"rank*.log: no file yet, which is read when it appears); a failure" in announced
    assert silent.startswith(b"ncdiag: the logs did not grow for ")


def test_a_pipe_is_read_while_it_is_open_and_to_its_end(program: list[str], failing: bytes) -> None:
    with watching(program, "-", stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        process.stdin.write(failing)
        process.stdin.flush()
        lines_until(process, b"add -v for the full report")
        process.stdin.close()
        assert process.wait() == 1


def test_silence_is_told(program: list[str], tmp_path: Path) -> None:
    (tmp_path / "job.log").write_bytes(b"the job begins\n")
    with watching(program, "--hang-after", "0.2", tmp_path / "job.log") as process:
        assert process.stderr is not None
        assert b"following 1 log; " in process.stderr.readline()
        assert b"the logs did not grow for" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        process.communicate()


def test_healthy_logs_end_with_a_diagnosis(ncdiag: Run, project: Path) -> None:
    log = project / "fixtures" / "cases" / "veth" / "nccl.log"
    healthy = b"".join(line for line in log.read_bytes().splitlines(keepends=True) if b"veth" not in line)
    watched, whole = (ncdiag(*words, "-", input=healthy) for words in (["watch"], ["parse"]))
    assert (watched.returncode, watched.stdout) == (whole.returncode, whole.stdout)


@pytest.mark.parametrize("words", [["nosuch.log"], ["--format", "nosuch", "-"], ["--hang-after", "x", "-"]])
def test_what_makes_no_sense_is_one_sentence(ncdiag: Run, words: list[str]) -> None:
    done = ncdiag("watch", *words)
    assert done.returncode == 2
    assert done.stderr.startswith(b"ncdiag: ")
    assert done.stderr.count(b"\n") == 1


def test_without_fork_it_says_so() -> None:
    code = "import os, sys; del os.fork; from ncdiag.cli import main; sys.exit(main(['watch', 'x']))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert (done.returncode, done.stderr.count(b"\n")) == (2, 1)


@pytest.mark.parametrize("until", ["2024-05-03 03:12", "@1714705920"])
def test_a_window_that_is_past_is_diagnosed_once_and_is_no_hang(program: list[str], tmp_path: Path, until: str) -> None:
    log = tmp_path / "job.log"
    lines = [
        f"2024-05-03 03:{minute}:00 n1:40:51 [0] NCCL INFO comm 0x7f rank 0 nranks 2\n" for minute in range(10, 15)
    ]
    log.write_text("".join(lines), encoding="utf-8")
    with watching(program, log, "--until", until, "--hang-after", "1") as process:
        said, errors = process.communicate(timeout=60)
    assert b"--until is past, and no later line is read: the logs are diagnosed once" in errors
    assert b"did not grow" not in errors
    assert b"HANGS" not in said
    assert said
    assert process.returncode == 0
