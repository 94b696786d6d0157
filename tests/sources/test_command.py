"""Real programs: what they print, how they fail, and that none of them outlives its time."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
import time
import uuid
from pathlib import Path

import pytest

from ncdiag.bare import run
from ncdiag.parsers import discover
from ncdiag.sources.command import CommandResult, run_command, table


def alive(mark: str) -> list[str]:
    """Command lines of processes that carry the mark in their arguments; those being killed get a moment to go."""
    deadline = time.monotonic() + 30
    while (found := _running(mark)) and time.monotonic() < deadline:
        time.sleep(0.02)
    return found


def _running(mark: str) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            text = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if mark in text:
            found.append(text)
    return found


def open_files() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def test_output_is_clean_lines() -> None:
    assert run_command(["printf", r"a\033[1mb\033[0m\r\nc\n"], 5) == CommandResult(("ab", "c"), 0)


def test_the_program_reads_nothing_and_speaks_english() -> None:
    assert run_command(["cat"], 5) == CommandResult((), 0)
    assert run_command(["sh", "-c", "echo $LC_ALL; tty"], 5).output == ("C", "not a tty")


def test_failures_have_reasons(tmp_path: Path) -> None:
    assert run_command(["ncdiag-no-such-program"], 5).reason == "not installed"
    failed = run_command(["ls", "/nowhere/at/all"], 5)
    assert failed.status == 2
    assert failed.reason == "exit status 2: ls: cannot access '/nowhere/at/all': No such file or directory"
    assert run_command(["sh", "-c", "echo said; exit 3"], 5) == CommandResult(("said",), 3, "exit status 3: said")
    assert run_command(["sh", "-c", "kill -9 $$"], 5).reason == "ended by signal 9"
    script = tmp_path / "no-interpreter"
    script.write_text("#!/nowhere/sh\n")
    script.chmod(0o755)
    assert run_command([str(script)], 5).reason == "No such file or directory"


@pytest.mark.parametrize(
    "shell",
    [
        "sh -c 'sleep 100; : {mark}'; true",
        "sh -c 'sleep 100; : {mark}' & sleep 100; : {mark}",
        "trap '' TERM INT HUP; sh -c 'trap \"\" TERM HUP; sleep 100; : {mark}' & wait; : {mark}",
        "exec >&- 2>&-; sleep 100; : {mark}",
    ],
    ids=["child", "grandchild", "deaf to signals", "output closed"],
)
def test_a_hanging_program_is_killed_with_its_children(shell: str) -> None:
    mark = f"mark-{uuid.uuid4().hex}"
    start = time.monotonic()
    result = run_command(["sh", "-c", "echo begun; " + shell.format(mark=mark)], 0.5)
    assert time.monotonic() - start < 15  # far below what hangs
    assert (result.output, result.status, result.reason) == (("begun",), None, "no answer within 0.5 s")
    assert alive(mark) == []


def test_a_child_left_behind_by_a_finished_program_does_not_hold_us() -> None:
    mark = f"mark-{uuid.uuid4().hex}"
    start = time.monotonic()
    result = run_command(["sh", "-c", f"(sleep 100; : {mark}) & echo done"], 10)
    assert result == CommandResult(("done",), 0)
    assert time.monotonic() - start < 15  # far below what hangs
    assert alive(mark) == []


def test_a_flood_of_output_is_cut() -> None:
    start = time.monotonic()
    result = run_command(["yes", "x" * 99], 10)
    assert time.monotonic() - start < 9.9  # before its time is over
    assert sum(len(line) + 1 for line in result.output) <= run.OUTPUT_LIMIT + 1
    assert result.reason == "printed more than 8 MiB, of which the beginning was read"
    assert result.status is None


def test_a_flood_of_errors_is_cut_too() -> None:
    assert run_command(["sh", "-c", "yes >&2"], 10).reason is not None


def test_cancelling_ends_a_program_at_once() -> None:
    cancel = threading.Event()
    threading.Timer(0.2, cancel.set).start()
    start = time.monotonic()
    run_command(["sleep", "100"], 50, cancel)
    assert time.monotonic() - start < 15  # far below what hangs


def test_no_zombies_and_no_open_pipes_stay_behind() -> None:
    before = open_files()
    for _ in range(5):
        run_command(["true"], 5)
        run_command(["sleep", "9"], 0.05)
    assert open_files() == before
    script = "from ncdiag.sources.command import run_command as r; r(['sleep', '9'], 0.05); import os; os.wait()"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert "ChildProcessError" in ran.stderr


def test_the_table_is_sound() -> None:
    names = [entry.name for entry in table()]
    assert len(set(names)) == len(names)
    assert len({entry.why for entry in table()}) == len(names), "results are told apart by what they find out"
    for entry in table():
        assert re.fullmatch(r"\w+", entry.name)
        assert entry.argv
        assert 0 < entry.limit <= 20
        assert entry.kind in discover(), f"no parser reads {entry.name}"
