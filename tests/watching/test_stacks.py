"""``ncdiag run`` on jobs of several processes that hang: the stacks say where each one is."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hanging import TRAIN, Hung, as_nobody, needs_py_spy, needs_root, write_library
from processes import running, until

from ncdiag.apps.watching import stacks

MPIRUN = shutil.which("mpirun")


@pytest.fixture
def train(tmp_path: Path) -> Path:
    """A program whose ranks each do what a word says."""
    write_library(tmp_path)
    (tmp_path / "train.py").write_text(TRAIN)
    return tmp_path / "train.py"


@needs_py_spy
@pytest.mark.parametrize(
    ("words", "title"),
    [
        (("wait", "load", "wait"), "rank 1 is loading data (__next__, from train.py:"),
        (("wait", "lock", "wait"), "rank 1 is in reserve (train.py:"),
    ],
)  # fmt: skip
def test_the_rank_that_the_others_wait_for_is_named(
    program: list[str], train: Path, mark: str, words: tuple[str, ...], title: str
) -> None:
    hung = Hung(program, train.parent / "report.json", mark, job=[sys.executable, str(train), *words])
    hung.end()
    assert hung.report["summary"]["root_cause"] == "process-elsewhere"
    assert title in hung.title("process-elsewhere")
    assert "; ranks 0,2 wait in a collective (all_reduce, from train.py:" in hung.title("process-elsewhere")


@needs_py_spy
def test_a_rank_that_is_stopped_is_the_cause_and_has_a_stack(program: list[str], train: Path, mark: str) -> None:
    hung = Hung(program, train.parent / "report.json", mark, job=[sys.executable, str(train), "wait", "stop", "wait"])
    hung.end()
    assert hung.report["summary"]["root_cause"] == "job-process-held"
    assert hung.title("job-process-held").startswith("The job waits because rank 1 (PID ")
    assert "rank 1 is in stop (train.py:" in hung.title("process-elsewhere")


@needs_py_spy
def test_the_place_of_a_process_that_hangs_alone_is_in_the_heading(
    program: list[str], train: Path, mark: str
) -> None:  # fmt: skip
    hung = Hung(program, train.parent / "report.json", mark, job=[sys.executable, str(train), "lock"])
    hung.end()
    assert ") in reserve (train.py:" in hung.title("job-hangs-silently")
    [found] = [each for each in hung.report["findings"] if each["name"] == "job-hangs-silently"]
    assert "py-spy dump --nonblocking --pid $p" in found["fixes"][0]["commands"]["shell"]
    assert "<pid>" not in found["fixes"][0]["commands"]["shell"]


@needs_py_spy
def test_native_stacks_stop_nothing_for_longer_than_they_are_read(program: list[str], train: Path, mark: str) -> None:
    hung = Hung(
        program, train.parent / "report.json", mark, "--stacks", "native",
        job=[sys.executable, str(train), "wait", "lock", "wait"],
    )  # fmt: skip
    assert not {"T", "t"} & set(hung.states.values())
    assert b"py-spy stopped each process for at most 0." in hung.end()
    assert "rank 1 is waiting for another thread (PyThread_acquire_lock" in hung.title("process-elsewhere")


def test_stacks_that_cannot_be_read_are_said_with_what_to_do(program: list[str], train: Path, mark: str) -> None:
    """A py-spy that is refused, first on the path."""
    script = "#!/bin/sh\necho 'Permission Denied: Try running again' >&2\nexit 1\n"
    (train.parent / "py-spy").write_text(script)
    (train.parent / "py-spy").chmod(0o755)
    job = [sys.executable, str(train), "wait", "load", "wait"]
    hung = Hung(program, train.parent / "report.json", mark, job=job, first=str(train.parent))
    said = hung.end().decode()
    assert "ncdiag: not read: Python stacks of 4 processes (" in said
    assert f"'sudo {train.parent}/py-spy dump --nonblocking --pid " in said
    assert "Python stacks of 4 processes" in hung.report["summary"]["not_looked_at"]
    assert not any("py-spy dump --nonblocking" in str(step["run"]) for step in hung.report["next_steps"])


def test_no_stacks_are_taken_where_none_are_wanted(program: list[str], train: Path, mark: str) -> None:
    job = [sys.executable, str(train), "wait", "load", "wait"]
    hung = Hung(program, train.parent / "report.json", mark, "--stacks", "never", job=job)
    hung.end()
    assert hung.title("process-elsewhere") == ""
    assert hung.title("job-hangs-silently") != ""


@pytest.mark.skipif(MPIRUN is None, reason="mpirun is not installed")
@needs_py_spy
def test_a_job_of_mpirun_with_one_process_stopped(program: list[str], train: Path, mark: str) -> None:
    script = train.with_name("rank.py")
    script.write_text(
        "import os, runpy, sys\n"
        "sys.argv[1:] = ['stop' if os.environ['OMPI_COMM_WORLD_RANK'] == '1' else 'wait']\n"
        f"runpy.run_path({str(train)!r}, run_name='__main__')\n"
    )
    options = ["--oversubscribe", *(["--allow-run-as-root"] if os.getuid() == 0 else [])]
    job = [str(MPIRUN), *options, "-np", "2", sys.executable, str(script)]
    hung = Hung(program, train.parent / "report.json", mark, job=job)
    hung.end()
    assert hung.report["summary"]["root_cause"] == "job-process-held"
    assert "is stopped (T" in hung.title("job-process-held")
    assert "rank 1 is in stop (" in hung.title("process-elsewhere")
    assert "rank 0 waits in a collective (all_reduce" in hung.title("process-elsewhere")


@needs_py_spy
@pytest.mark.parametrize("way", ["file", "pipe"])
def test_watch_names_the_late_one_of_the_processes_that_write_the_log(
    program: list[str], train: Path, mark: str, way: str
) -> None:
    """The job has nothing in its environment that names it; a reader of the log does not belong to it."""
    log = train.with_name("job.log")
    log.write_text("n2:40:40 [0] NCCL INFO Bootstrap: Using eth0:10.1.0.2<0>\n")
    job = [sys.executable, str(train), "wait", "load", "wait"]
    env = {**os.environ, "NCDIAG_TEST_JOB": mark}
    words = [*program, "watch", "--hang-after", "3", str(log) if way == "file" else "-"]
    read, write = os.pipe()
    own = os.open(log, os.O_WRONLY | os.O_APPEND) if way == "file" else os.dup(write)
    with (
        log.open() as other,
        subprocess.Popen(job, env=env, stdout=own),
        subprocess.Popen(["sleep", "1000"], stdin=other) as reader,
        subprocess.Popen(words, env=env, stdin=read, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process,
    ):  # fmt: skip
        os.write(write, log.read_bytes())
        for handle in (own, read, write):
            os.close(handle)
        assert process.stderr is not None
        assert process.stdout is not None
        announced, grew = process.stderr.readline(), process.stderr.readline()
        first = process.stdout.readline() + process.stdout.readline() + process.stdout.readline()
        process.send_signal(signal.SIGINT)
        for pid in (*running(mark), reader.pid):
            if pid != process.pid:
                os.kill(pid, signal.SIGKILL)
        out = (first + process.communicate()[0]).decode()
    assert b"a hang after 3 s without a new line; then the processes of this host that write " in announced
    assert b"the logs did not grow for" in grew
    assert "Late, by the stacks: rank 1 is loading data (__next__, from" in " ".join(out.split())
    assert "ranks 0,2 wait in a collective" in " ".join(out.split())
    assert "sleep (PID" not in out


@pytest.fixture
def sleeping() -> Iterator[int]:
    """The id of a Python process of this user that sleeps."""
    with subprocess.Popen(
        [sys.executable, "-c", "print(flush=True); import time; time.sleep(1000)"], stdout=-1
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process.pid
        process.kill()


@needs_root
@needs_py_spy
@pytest.mark.parametrize(
    ("scope", "words"), [(None, "another user's process"), ("1", "ptrace_scope is 1: 'sudo sysctl")]
)
def test_another_user_gets_the_command_that_allows_it(
    sleeping: int, tmp_path: Path, scope: str | None, words: str
) -> None:
    if scope is not None:
        (tmp_path / "scope").write_text(scope)
    tmp_path.chmod(0o755)
    for folder in tmp_path.parents[:3]:
        folder.chmod(0o755)
    text, missing, _ = as_nobody(
        lambda: msgspec.structs.astuple(stacks.take([sleeping], "auto", yama=tmp_path / "scope"))
    )
    assert text == ""
    (sentence,) = missing
    assert sentence.startswith(f"Python stacks of process {sleeping} (")
    assert words in sentence
    assert f"dump --nonblocking --pid {sleeping}' prints one" in sentence


@needs_py_spy
def test_one_that_ended_a_zombie_and_another_program_cost_nothing_but_themselves(sleeping: int) -> None:
    with subprocess.Popen(["true"]) as zombie, subprocess.Popen(["sleep", "1000"]) as other:
        assert until(lambda: " Z " in Path(f"/proc/{zombie.pid}/stat").read_text())
        taken = stacks.take([2**22 + 1, zombie.pid, other.pid, sleeping], "auto")
        other.kill()
    assert taken.text.startswith(f"Process {sleeping}: ")
    assert taken.missing == ()


def test_without_py_spy_its_package_is_named(sleeping: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stacks, "program", lambda: None)
    (sentence,) = stacks.take([sleeping], "auto").missing
    assert "py-spy is not installed: pip install py-spy" in sentence
    assert stacks.take([2**22 + 1], "auto").missing == ()


def test_a_py_spy_that_hangs_or_fails_is_a_sentence(
    sleeping: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stacks, "program", lambda: str(tmp_path / "py-spy"))
    for script, words in (("sleep 1000", "no answer within"), ("echo broken >&2; exit 1", "py-spy: broken")):
        (tmp_path / "py-spy").write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / "py-spy").chmod(0o755)
        monkeypatch.setattr(stacks, "_LIMIT", 0.2)
        (sentence,) = stacks.take([sleeping], "auto").missing
        assert words in sentence


STORM = """
import threading, time
threading.stack_size(65536)
for _ in range(2500):
    threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
print(flush=True); time.sleep(1000)
"""


def test_a_process_of_thousands_of_threads_is_said_to_have_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing = tmp_path / "py-spy"
    failing.write_text("#!/bin/sh\necho 'Error: it takes too long' >&2; exit 1\n")
    failing.chmod(0o755)
    monkeypatch.setattr(stacks, "program", lambda: str(failing))
    with subprocess.Popen([sys.executable, "-c", STORM], stdout=-1) as process:
        assert process.stdout is not None
        process.stdout.readline()
        (sentence,) = stacks.take([process.pid], "auto").missing
        process.kill()
    assert "(py-spy: Error: it takes too long; it has 2501 threads, and the state of its main thread" in sentence


@pytest.mark.parametrize("logs", [False, True])
def test_what_is_lost_with_the_job_is_kept_in_a_folder_that_is_named(
    ncdiag_process: Callable[..., Any], tmp_path: Path, *, logs: bool
) -> None:
    options = ["--hang-after", "0.5", "--kill-on-hang", "--kill-grace", "0.1", "-o", tmp_path / "report.txt"]
    options += ["--logs", tmp_path] if logs else []
    script = "echo step 41; echo 'n1:1:1 [0] NCCL INFO Bootstrap' > ${NCCL_DEBUG_FILE%%%*}n1.1.log; exec sleep 1000"
    done = ncdiag_process("run", *options, "--", "sh", "-c", script, env={"TMPDIR": str(tmp_path)})
    assert b"kept before stopping it: " in done.stderr
    (folder,) = tmp_path.glob("hang-*" if logs else "ncdiag-hang-*")
    assert f"logs and dumps in {folder}\n".encode() in done.stderr
    assert "of the silent job is in state S" in (folder / "states.txt").read_text()
    assert (folder / "output-1.txt").read_text() == "step 41\n"
    (log,) = (tmp_path if logs else folder).glob("nccl.*")
    assert "Bootstrap" in log.read_text()
