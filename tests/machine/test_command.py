"""Real programs: what they print, how they fail, and that none of them outlives its time."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
import uuid
from pathlib import Path

import pytest
from processes import LeapingClock, left_running

from ncdiag.agent import run
from ncdiag.machine.command import CommandResult, run_command, table
from ncdiag.parsers import discover


def open_files() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def test_output_is_clean_lines() -> None:
    assert run_command(["printf", r"a\033[1mb\033[0m\r\nc\n"], 100) == CommandResult(("ab", "c"), 0)


def test_the_program_reads_nothing_and_speaks_english() -> None:
    assert run_command(["cat"], 100) == CommandResult((), 0)
    assert run_command(["sh", "-c", "echo $LC_ALL; tty"], 100).output == ("C", "not a tty")


def test_failures_have_reasons(tmp_path: Path) -> None:
    assert run_command(["ncdiag-no-such-program"], 100).reason == "not installed"
    failed = run_command(["ls", "/nowhere/at/all"], 100)
    assert failed.status == 2
    assert failed.reason == "exit status 2: ls: cannot access '/nowhere/at/all': No such file or directory"
    assert run_command(["sh", "-c", "echo said; exit 3"], 100) == CommandResult(("said",), 3, "exit status 3: said")
    assert run_command(["sh", "-c", "kill -9 $$"], 100).reason == "ended by signal 9"
    script = tmp_path / "no-interpreter"
    script.write_text("#!/nowhere/sh\n")
    script.chmod(0o755)
    assert run_command([str(script)], 100).reason == "No such file or directory"


@pytest.mark.parametrize(
    "shell",
    [
        "sh -c '{begun}; sleep 600; : {mark}'; true",
        "sh -c '{begun}; sleep 600; : {mark}' & sleep 600; : {mark}",
        "trap '' TERM INT HUP; sh -c 'trap \"\" TERM HUP; {begun}; sleep 600; : {mark}' & wait; : {mark}",
        "exec >&- 2>&-; {begun}; sleep 600; : {mark}",
    ],
    ids=["child", "grandchild", "deaf to signals", "output closed"],
)
def test_a_hanging_program_is_killed_with_its_children(
    shell: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = f"mark-{uuid.uuid4().hex}"
    monkeypatch.setattr(run, "time", LeapingClock(tmp_path / "begun"))
    text = shell.format(mark=mark, begun=f": > {tmp_path}/begun")
    result = run_command(["sh", "-c", f"echo begun; {text}"], 500)
    assert (result.output, result.status, result.reason) == (("begun",), None, "no answer within 500 s")
    assert left_running(mark) == []


def test_a_child_left_behind_by_a_finished_program_does_not_hold_us() -> None:
    mark = f"mark-{uuid.uuid4().hex}"
    result = run_command(["sh", "-c", f"(sleep 600; : {mark}) & echo done"], 500)
    assert result == CommandResult(("done",), 0)
    assert left_running(mark) == []


def test_a_flood_of_output_is_cut() -> None:
    result = run_command(["yes", "x" * 99], 500)
    assert sum(len(line) + 1 for line in result.output) <= run.OUTPUT_LIMIT + 1
    assert result.reason == "printed more than 8 MiB, of which only the beginning was read"
    assert result.status is None


def test_a_flood_of_errors_is_cut_too() -> None:
    assert run_command(["sh", "-c", "yes >&2"], 500).reason is not None


def test_cancelling_ends_a_program_at_once() -> None:
    mark, cancel = f"mark-{uuid.uuid4().hex}", threading.Event()
    threading.Timer(0.2, cancel.set).start()
    assert run_command(["sh", "-c", f"sleep 600; : {mark}"], 500, cancel).status is None
    assert left_running(mark) == []


def test_no_zombies_and_no_open_pipes_stay_behind() -> None:
    before = open_files()
    for _ in range(5):
        run_command(["true"], 100)
        run_command(["sleep", "9"], 0.05)
    assert open_files() == before
    script = "from ncdiag.machine.command import run_command as r; r(['sleep', '9'], 0.05); import os; os.wait()"
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
