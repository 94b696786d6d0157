"""The table of faults, one row each: what is found all the same, the exit code, what is told."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from processes import LeapingClock, left_running

from ncdiag import cli
from ncdiag.agent import run
from ncdiag.machine import live
from ncdiag.machine.command import Command

BEGUN = ': > "$NCDIAG_TEST_BEGUN"'
"""A tool that hangs says so by making a file: then its time is over."""
XID = "2026-02-03T04:05:06,123456+00:00 NVRM: Xid (PCI:0000:3b:00): 79, pid=77, GPU has fallen off the bus."
GOOD = f"printf '%s\\n' '{XID}'"


class Tool(NamedTuple):
    """A program in place of dmesg: what is found in its output, the exit code, what is told as not seen."""

    script: str | None
    finding: str | None
    code: int
    told: str | None
    mode: int = 0o755


TOOLS = {
    "good": Tool(GOOD, "xid-fatal", 1, None),
    "missing": Tool(None, None, 0, "not installed"),
    "not executable": Tool(GOOD, None, 0, "may not be executed", mode=0o644),
    "no interpreter": Tool("#!/no/such/shell", None, 0, "No such file"),
    "no program": Tool("\0\1\2", None, 0, "Exec format error"),
    "permission denied": Tool(
        "echo 'open: Permission denied' >&2; exit 13", None, 0, "exit status 13: open: Permission"
    ),
    "hanging": Tool(f"{GOOD}; {BEGUN}; sleep 600", "xid-fatal", 1, "no answer within"),
    "ignores TERM": Tool(f"trap '' TERM INT HUP; {BEGUN}; while :; do sleep 1; done", None, 0, "no answer within"),
    "a child stays": Tool(f"{GOOD}; sleep 600 & exit 0", "xid-fatal", 1, None),
    "a daemon stays": Tool(f"{GOOD}; setsid sleep 3 & exit 0", "xid-fatal", 1, None),
    "prints for ever": Tool(f"{GOOD}; yes nonsense", "xid-fatal", 1, "printed more than"),
    "good output, bad status": Tool(f"{GOOD}; exit 3", "xid-fatal", 1, "exit status 3"),
    "no output, good status": Tool("exit 0", None, 0, None),
    "dies by a signal": Tool("kill -SEGV $$", None, 0, "ended by signal 11"),
    "not UTF-8": Tool(f"printf '\\344\\366 odd\\n'; {GOOD}", "xid-fatal", 1, None),
    "escapes": Tool(f"printf '\\033[2J\\033]0;x\\007fine\\n'; {GOOD}", "xid-fatal", 1, None),
    "localised": Tool("echo 'dmesg: Lesen des Kernelpuffers nicht erlaubt' >&2; exit 1", None, 0, "nicht erlaubt"),
    "speaks English when asked": Tool(f'[ "$LC_ALL" = C ] && {GOOD}', "xid-fatal", 1, None),
    "reads its input": Tool(f"cat; {GOOD}", "xid-fatal", 1, None),
}


@pytest.fixture
def faulty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str | None, int], None]:
    """``faulty(script, mode)``: the only program that is run is this one; its time is over once it hangs."""
    tool = f"ncdiag-test-{uuid.uuid4().hex[:8]}"
    commands = (Command(name="tool", argv=(tool,), kind="dmesg", why="what it tells", limit=500),)
    monkeypatch.setattr(live, "table", lambda: commands)
    monkeypatch.setattr(run, "time", LeapingClock(tmp_path / "begun"))
    monkeypatch.setenv("NCDIAG_TEST_BEGUN", str(tmp_path / "begun"))
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

    def make(script: str | None, mode: int) -> None:
        if script is not None:
            path = tmp_path / tool
            path.write_text(script if script.startswith(("#!", "\0")) else f"#!/bin/sh\n{script}\n")
            path.chmod(mode)

    return make


def checked(capsys: pytest.CaptureFixture[str]) -> tuple[int, dict[str, Any]]:
    """Exit code and report of a look at this host."""
    code = cli.main(["check", "--no-nccl", "--format", "json"])
    shown = capsys.readouterr()
    assert shown.err == ""
    return code, json.loads(shown.out)


@pytest.mark.parametrize("name", TOOLS)
def test_a_tool_with_a_fault(
    name: str, faulty: Callable[[str | None, int], None], monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    row, mark = TOOLS[name], uuid.uuid4().hex
    faulty(row.script, row.mode)
    monkeypatch.setenv("NCDIAG_TEST_MARK", mark)
    code, report = checked(capsys)
    assert name == "a daemon stays" or not left_running(mark), "a program or a child of it outlived its time"
    findings = {finding["name"] for finding in report["findings"]}
    assert (code, row.finding is None or row.finding in findings) == (row.code, True)
    told = [item for item in report["summary"]["not_looked_at"] if item.startswith("what it tells: ")]
    if row.told is None:
        assert told == []
    else:
        assert row.told in told[0]


def test_output_cut_off_at_every_place(
    faulty: Callable[[str | None, int], None], capsys: pytest.CaptureFixture[str]
) -> None:
    whole = XID.index(" 79") + len(" 79")
    for size in [0, 1, 10, 31, 40, whole - 1, whole, whole + 1, len(XID) - 1, len(XID)]:
        faulty(f"printf '%s' '{XID[:size]}'", 0o755)
        code, report = checked(capsys)
        found = "xid-fatal" in {finding["name"] for finding in report["findings"]}
        # One digit less is another Xid, that nobody has a rule for.
        assert (code == int(found) and found is (size >= whole)) or size == whole - 1, f"{size} bytes"


@pytest.mark.parametrize(
    ("journal", "code", "told"),
    [
        (f"{GOOD.replace('NVRM', 'n1 kernel: NVRM').replace(',123456', '')}", 1, []),
        ("exit 0", 0, ["what it tells: ", "the same from elsewhere: "]),
        ("echo 'No journal files were opened' >&2; exit 1", 0, ["what it tells: ", "the same from elsewhere: "]),
    ],
)
def test_another_program_stands_in(
    journal: str, code: int, told: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    for name, script in {
        "ncdiag-test-first": "echo 'not permitted' >&2; exit 1",
        "ncdiag-test-second": journal,
    }.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    first = Command(name="first", argv=("ncdiag-test-first",), kind="dmesg", why="what it tells", limit=500)
    second = Command(
        name="second", argv=("ncdiag-test-second",), kind="dmesg", why="the same from elsewhere", limit=500,
        instead_of="first",
    )  # fmt: skip
    monkeypatch.setattr(live, "table", lambda: (first, second))
    found, report = checked(capsys)
    assert found == code
    missing = [item for item in report["summary"]["not_looked_at"] if item.startswith(("what it tells", "the same"))]
    assert [item[: len(begin)] for item, begin in zip(missing, told, strict=True)] == told


class Odd(NamedTuple):
    """An odd place to run in: the words, what is found, the exit code, what is told."""

    wrapper: tuple[str, ...]
    words: tuple[str, ...]
    finding: str | None
    code: int
    told: str


RECORDED = ("check", "--root", "fixtures/roots/ib-initializing")
HERE = ("check", "--no-nccl", "--fail-on", "never")  # what is found here is this machine's affair
SHELL = ("sh", "-c")
MOUNT = ("unshare", "-m", "sh", "-c")
CANNOT = "ncdiag: cannot write "
SM = "ib-sm-not-running"

SURROUNDINGS = {
    "empty environment": Odd(("env", "-i"), RECORDED, SM, 1, ""),
    "no HOME": Odd(("env", "-u", "HOME"), RECORDED, SM, 1, ""),
    "no cache": Odd(("env", "HOME=/nonexistent", "XDG_CACHE_HOME=/proc/none"), RECORDED, SM, 1, ""),
    "closed stdin": Odd((*SHELL, 'exec "$@" <&-', "sh"), RECORDED, SM, 1, ""),
    "closed stderr": Odd((*SHELL, 'exec "$@" 2>&-', "sh"), RECORDED, SM, 1, ""),
    "closed stdout": Odd((*SHELL, 'exec "$@" >&-', "sh"), RECORDED, None, 4, CANNOT + "the output"),
    "full disk behind stdout": Odd((*SHELL, 'exec "$@" >/dev/full', "sh"), RECORDED, None, 4, CANNOT + "the output"),
    "one column": Odd(("env", "COLUMNS=1"), RECORDED, SM, 1, ""),
    "dumb terminal": Odd(("env", "TERM=dumb"), RECORDED, SM, 1, ""),
    "other languages": Odd(("env", "LC_ALL=de_DE.UTF-8", "LANG=ja_JP.eucJP"), RECORDED, SM, 1, ""),
    "a live look, empty environment": Odd(("env", "-i"), HERE, None, 0, "Not checked:"),
    "no /proc": Odd(
        (*MOUNT, 'mount -t tmpfs n /proc; exec "$@"', "sh"), (*HERE, "-v"), None, 0, "/proc/modules does not exist"
    ),
    "no /sys": Odd(
        (*MOUNT, 'mount -t tmpfs n /sys; exec "$@"', "sh"), (*HERE, "-v"), None, 0, "/sys/class/infiniband does not"
    ),
    "read-only disk": Odd(
        (*MOUNT, 'mount -t tmpfs -o ro n /mnt; HOME=/mnt exec "$@" -o /mnt/r', "sh"), RECORDED, None, 4,
        CANNOT + "/mnt/r: Read-only file system",
    ),
    "full disk": Odd(
        (*MOUNT, 'mount -t tmpfs -o size=4k n /mnt; "$@" -o /mnt/r; c=$?; ls -A /mnt; exit $c', "sh"),
        (*RECORDED, "--format", "json"), None, 4, CANNOT + "/mnt/r: No space left on device",
    ),
    "an ordinary user": Odd(("unshare", "-U"), (*HERE, "-v"), None, 0, "(it needs root)"),
}  # fmt: skip


MORE = {
    "no cache", "closed stdin", "one column", "dumb terminal", "other languages", "a live look, empty environment",
    "read-only disk",
}  # fmt: skip
"""Surroundings that are tried in ``make sweep`` alone."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.long] if name in MORE else []) for name in SURROUNDINGS]
)
def test_odd_surroundings(
    name: str, program: list[str], project: Path, need: Callable[[str, object, str], None]
) -> None:
    row = SURROUNDINGS[name]
    if row.wrapper[0] == "unshare":
        tried = subprocess.run([*row.wrapper[:2], "true"], check=False, capture_output=True)
        need("root", os.geteuid() == 0 and tried.returncode == 0, "a namespace of our own takes root")
    done = subprocess.run(
        [*row.wrapper, *program, *row.words], capture_output=True, text=True, check=False, cwd=project
    )
    assert "Traceback" not in done.stderr
    assert done.returncode == row.code, done.stderr
    if row.code == 4:
        assert done.stderr.startswith(row.told)
        assert done.stderr.count("\n") == 1
        assert done.stdout == "", "nothing lies on the disk"
    else:
        shown = "".join(done.stdout.split())
        assert (row.finding or "") in shown
        assert row.told.replace(" ", "") in shown


@pytest.mark.long
def test_killed_at_random_moments(program: list[str], project: Path, tmp_path: Path) -> None:
    target = tmp_path / "report.json"
    for moment in (0.1, 0.25, 0.4, 0.55, 0.7):
        words = [*program, *RECORDED, "--format", "json", "-o", str(target)]
        with subprocess.Popen(words, cwd=project, stderr=subprocess.DEVNULL) as running:
            time.sleep(moment)
            running.send_signal(signal.SIGKILL)
        if target.exists():
            assert json.loads(target.read_text())["summary"]["root_cause"] == SM
            target.unlink()


@pytest.mark.long
def test_two_runs_at_once(program: list[str], project: Path, tmp_path: Path) -> None:
    target, environment = tmp_path / "report.json", {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    words = [*program, *RECORDED, "--format", "json", "-o", str(target)]
    running = [subprocess.Popen(words, cwd=project, env=environment, stderr=subprocess.PIPE) for _ in range(2)]
    ends = [(process.communicate()[1], process.returncode) for process in running]
    assert ends == [(b"", 1)] * 2
    assert json.loads(target.read_text())["summary"]["root_cause"] == SM
    assert [path.name for path in tmp_path.iterdir() if path.name != "cache"] == [target.name]
