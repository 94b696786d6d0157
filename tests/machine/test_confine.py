"""The limits of `ncdiag.machine.confine` hold: the kernel refuses, or ends the process."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

CONFINED = "from ncdiag.machine.confine import confine; confine(memory=1 << 30, seconds={seconds}, written=1 << 20)\n"


def run(code: str, seconds: float = 60) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", CONFINED.format(seconds=seconds) + code], capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("bytearray(2 << 30)", "MemoryError"),
        ("import tempfile; f = tempfile.TemporaryFile(); f.write(bytes(2 << 20)); f.flush()", "File too large"),
    ],
)
def test_what_is_too_much_is_refused(code: str, error: str) -> None:
    done = run(code)
    assert done.returncode != 0
    assert error in done.stderr


def test_nothing_else_is_started() -> None:
    """Root may start processes whatever the limit says, so another user tries."""
    done = run("import os; os.getuid() or os.setuid(65534); os.fork()")
    assert done.returncode != 0
    assert "BlockingIOError" in done.stderr


def test_after_its_time_the_kernel_ends_it() -> None:
    assert run("while True: pass", seconds=0.2).returncode == -signal.SIGALRM
