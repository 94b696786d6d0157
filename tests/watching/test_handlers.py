"""Stacks that the ranks write themselves, where this user may not read their memory (``run --stacks faulthandler``)."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hanging import TRAIN, Hung, as_nobody, needs_root, write_library
from processes import running, until

from ncdiag.apps.watching import handlers, stacks
from ncdiag.apps.watching.job import descendants

Run = Callable[..., subprocess.CompletedProcess[bytes]]
PYTHON = shutil.which("python3", path="/usr/bin:/usr/local/bin")
REFUSES = "#!/bin/sh\necho 'Permission Denied: Try running again' >&2\nexit 1\n"


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that every user may enter and write, with a job in it and a py-spy that is refused."""
    made = Path(tempfile.mkdtemp())
    write_library(made)
    (made / "train.py").write_text(TRAIN)
    (made / "py-spy").write_text(REFUSES)
    (made / "py-spy").chmod(0o755)
    made.chmod(0o777)
    yield made
    shutil.rmtree(made)


def test_a_rank_that_py_spy_may_not_read_writes_its_stack(program: list[str], folder: Path, mark: str) -> None:
    job = [sys.executable, str(folder / "train.py"), "wait", "load", "wait"]
    more = {"TMPDIR": str(folder)}
    found = Hung(program, folder / "report.json", mark, "--stacks", "faulthandler", job=job, first=str(folder), **more)
    ranks = [pid for pid in running(mark) if "train.py" in Path(f"/proc/{pid}/cmdline").read_text()]
    assert len(ranks) == 5  # with ncdiag itself: the signal ended none of them
    assert b"not read: Python stacks" not in found.end()
    title = found.title("process-elsewhere")
    assert "rank 1 is loading data (__next__, from " in title
    assert "; ranks 0,2 wait in a collective (all_reduce, from " in title
    assert not list(folder.glob("ncdiag-stacks-*"))


def taken_of_a_job(folder: Path, scope: Path) -> tuple[str, tuple[str, ...]]:
    """The stacks of a job of two that this user starts as ``ncdiag run`` does, and what could not be taken."""
    tempfile.tempdir = str(folder)
    found = handlers.Handlers() if handlers.are_wanted("auto", scope) else None
    env = {"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"}
    env |= found.variables(env) if found is not None else {}
    words = [str(PYTHON), str(folder / "train.py"), "wait", "load"]
    with subprocess.Popen(words, env=env, start_new_session=True) as process:
        until(lambda: len(descendants(process.pid)) == 2)
        time.sleep(1)  # until the ranks have imported what they wait in
        pids = [process.pid, *descendants(process.pid)]
        taken = stacks.take(pids, "auto", yama=scope, handlers=found)
        os.killpg(process.pid, signal.SIGKILL)
    if found is not None:
        found.remove()
    return taken.text, taken.missing


@needs_root
@pytest.mark.skipif(PYTHON is None, reason="no Python of the system, which other users may run")
@pytest.mark.parametrize("scope", ["1", "of this kernel"])
def test_ranks_of_another_user_than_root_write_their_stacks(folder: Path, scope: str) -> None:
    yama = handlers.YAMA
    if scope != "1":
        if not (yama.exists() and int(yama.read_text())):
            pytest.skip("this kernel has no Yama, or its ptrace_scope is 0")
    else:
        yama = folder / "scope"
        yama.write_text(scope)
    text, missing = as_nobody(lambda: taken_of_a_job(folder, yama))
    assert missing == []
    assert "[rank1]:   File" in text
    assert "in __next__" in text
    assert "in all_reduce" in text


def started(job: str, made: handlers.Handlers) -> subprocess.Popen[str]:
    """A Python program with the module of ``made``."""
    env = made.variables(os.environ)
    return subprocess.Popen([sys.executable, "-c", job], env={**os.environ, **env}, stdout=subprocess.PIPE, text=True)


@pytest.fixture
def made() -> Iterator[handlers.Handlers]:
    """The folder of the module, which goes away."""
    found = handlers.Handlers()
    yield found
    found.remove()


@pytest.mark.parametrize(
    ("own", "printed"),
    [
        (None, "none"), ("value = 7", "7"), ("import sitecustomize_helper as h; value = h.__name__", "sitecustomize_h"),
        ("raise RuntimeError('mine')", "none"),
    ],
)  # fmt: skip
def test_the_users_own_sitecustomize_is_executed_and_nothing_else_changes(
    made: handlers.Handlers, tmp_path: Path, own: str | None, printed: str
) -> None:
    if own is not None:
        (tmp_path / "sitecustomize.py").write_text(own)
    (tmp_path / "sitecustomize_helper.py").write_text("")
    job = (
        "import sys\ntry:\n import sitecustomize as s\nexcept Exception:\n s = None\n"
        "print(getattr(s, 'value', 'none'), sys.path)"
    )
    line = [sys.executable, "-c", job]
    env = {**os.environ, "PYTHONPATH": str(tmp_path)}
    alone = subprocess.run(line, env=env, capture_output=True, check=True, text=True)
    with_it = subprocess.run(line, env=env | made.variables(env), capture_output=True, check=True, text=True)
    assert with_it.stdout == alone.stdout
    assert with_it.stdout.startswith(printed)
    assert ("mine" in with_it.stderr) == ("mine" in alone.stderr) == (own is not None and "mine" in own)


def test_only_processes_that_handle_the_signal_are_sent_it(made: handlers.Handlers) -> None:
    """One that registered and then became another program, one that is stopped and one that took the signal first."""
    sleep = "import os, sys, time; print(flush=True); "
    jobs = [
        sleep + "time.sleep(1000)",
        "import os; os.execvp('sh', ['sh', '-c', 'echo; exec sleep 1000'])",
        sleep + "os.kill(os.getpid(), 19); time.sleep(1000)",
    ]
    processes = [started(job, made) for job in jobs]
    for process in processes:
        assert process.stdout is not None
        process.stdout.readline()
    pids = [process.pid for process in processes]
    assert until(lambda: Path(f"/proc/{pids[2]}/stat").read_text().rpartition(")")[2].split()[0] == "T")
    first, again = made.take([*pids, 2**22 + 1]), made.take(pids)
    for process in processes:
        assert process.poll() is None
        process.kill()
        process.communicate()
    assert first.keys() == again.keys() == {pids[0]}
    assert again[pids[0]].count("most recent call first") == 1


@pytest.mark.parametrize(
    ("mode", "scope", "user", "wanted"),
    [
        ("auto", "1", 1000, True), ("native", "2", 1000, True), ("auto", "1", 0, False), ("auto", "0", 1000, False),
        ("auto", None, 1000, False), ("never", "1", 1000, False), ("faulthandler", None, 0, True),
    ],
)  # fmt: skip
def test_it_is_wanted_where_only_descendants_may_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str, scope: str | None, user: int, *, wanted: bool
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: user)
    if scope is not None:
        (tmp_path / "scope").write_text(f"{scope}\n")
    assert handlers.are_wanted(mode, tmp_path / "scope") == wanted


def test_a_running_job_cannot_register_it(ncdiag: Run) -> None:
    done = ncdiag("check", "--pid", str(os.getpid()), "--stacks", "faulthandler")
    assert done.returncode == 2
    assert b"is for ncdiag run" in done.stderr
