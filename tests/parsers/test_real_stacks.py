"""The stacks of a real process that waits, as the real tools print them, lead to where it stands."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ncdiag.facts.model import Job
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.stacks import stands as found_stands
from ncdiag.text.reading.job import facts_of

PROGRAM = """
import faulthandler, sys, threading
sys.path.insert(0, {folder!r})
from torch.distributed.distributed_c10d import {function}
threading.Thread(target=threading.Event().wait, daemon=True, name="other").start()
def train():
    {function}(faulthandler)
train()
"""
FUNCTION = """
import sys, threading, time
def {function}(faulthandler):
    faulthandler.dump_traceback(sys.stderr)
    print("ready", flush=True)
    threading.Event().wait()
"""

Need = Callable[[str, object, str], None]


@pytest.fixture
def waiting(tmp_path: Path) -> Iterator[Callable[[str], subprocess.Popen[str]]]:
    """Starts a process that stands in a function of a module with the name of PyTorch's; ends it at the end."""
    started: list[subprocess.Popen[str]] = []

    def start(function: str) -> subprocess.Popen[str]:
        module = tmp_path / "torch" / "distributed" / "distributed_c10d.py"
        module.parent.mkdir(parents=True)
        for package in (module.parent, module.parent.parent):
            (package / "__init__.py").touch()  # py-spy shortens paths to those within packages
        module.write_text(FUNCTION.format(function=function), encoding="utf-8")
        program = tmp_path / "train.py"
        program.write_text(PROGRAM.format(folder=str(tmp_path), function=function), encoding="utf-8")
        pipe = subprocess.PIPE
        child = subprocess.Popen([sys.executable, program], stdout=pipe, stderr=pipe, text=True)
        started.append(child)
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        return child

    yield start
    for child in started:
        child.kill()
        child.communicate()


def stands(job: Job) -> list[tuple[int | None, str | None]]:
    view = View(job)
    return [(dump.pid, found_stands(dump, view)) for dump in job.stack_dumps]


def shown(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode or not done.stdout.strip():
        pytest.skip(f"{command[0]}: {(done.stderr or 'it shows nothing').strip()[:200]}")
    return done.stdout


@pytest.mark.parametrize(("function", "place"), [("all_reduce", "collective"), ("init_process_group", "rendezvous")])
@pytest.mark.parametrize("native", [False, True])
def test_py_spy(
    function: str, place: str, native: bool, waiting: Callable[[str], subprocess.Popen[str]], need: Need
) -> None:
    program = shutil.which("py-spy", path=str(Path(sys.executable).parent)) or shutil.which("py-spy")
    need("py-spy", program, "py-spy is not installed")
    child = waiting(function)
    text = shown([str(program), "dump", *(["--native"] if native else []), "--pid", str(child.pid)])
    assert stands(facts_of({"stacks": [text]})) == [(child.pid, place)]


def test_gdb_names_the_process_and_all_its_threads(
    waiting: Callable[[str], subprocess.Popen[str]], need: Need
) -> None:  # fmt: skip
    program = shutil.which("gdb")
    need("gdb", program, "gdb is not installed")
    child = waiting("all_reduce")
    text = shown([str(program), "-nx", "-batch", "-p", str(child.pid), "-ex", "thread apply all bt"])
    (dump,) = facts_of({"stacks": [text[text.index("\nThread ") :]]}).stack_dumps
    assert dump.pid == child.pid
    assert len(dump.threads) == len(list(Path(f"/proc/{child.pid}/task").iterdir()))
    assert all(thread.frames for thread in dump.threads)


def test_faulthandler(waiting: Callable[[str], subprocess.Popen[str]]) -> None:
    child = waiting("barrier")
    child.kill()
    text = child.communicate()[1]
    assert "most recent call first" in text
    assert stands(facts_of({"stacks": [text]})) == [(None, "collective")]
