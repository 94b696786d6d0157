"""What stands between a job and the reader of its output: nothing is lost, and a slow third party holds nothing up."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from ncdiag.apps.watching import tee


def copied(data: bytes, *, tap: int) -> subprocess.CompletedProcess[bytes]:
    """What the program makes of the data, with this descriptor at its side."""
    code = f"import os; os.dup2({tap}, 3); os.execv({sys.executable!r}, {[sys.executable, '-I', '-S', tee.__file__]!r})"
    return subprocess.run(
        [sys.executable, "-c", code], input=data, capture_output=True, check=False, pass_fds=[tap], timeout=100
    )


def test_both_get_every_byte(tmp_path: Path) -> None:
    data = os.urandom(3_000_000)
    with (tmp_path / "tap").open("wb") as tap:
        done = copied(data, tap=tap.fileno())
    assert (done.returncode, done.stdout, done.stderr) == (0, data, b"")
    assert (tmp_path / "tap").read_bytes() == data


def test_one_that_is_gone_holds_nothing_up() -> None:
    end, tap = os.pipe()
    os.close(end)
    done = copied(b"x" * 3_000_000, tap=tap)
    os.close(tap)
    assert (done.returncode, len(done.stdout)) == (0, 3_000_000)


def test_of_too_much_the_end_is_kept() -> None:
    end, handle = os.pipe()
    tap = tee.Tap(handle, room=300)
    for number in range(100):
        tap.take(b"line %d\n" % number * 10)
    tap.finish()
    os.close(handle)
    with os.fdopen(end, "rb") as opened:
        text = opened.read()
    assert tap.has_lost
    assert text.startswith(b"\n")
    assert text.endswith(b"line 99\n" * 10)
    assert len(text) <= 300
