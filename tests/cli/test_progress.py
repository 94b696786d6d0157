"""How far a long reading is, told on a terminal alone."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ncdiag.commands import _progress


class Terminal:
    """What is written to it is kept; it says that it is a terminal."""

    def __init__(self, *, is_terminal: bool = True) -> None:
        self.written, self._is_terminal = "", is_terminal

    def isatty(self) -> bool:
        return self._is_terminal

    def write(self, text: str) -> None:
        self.written += text

    def flush(self) -> None:
        """Nothing is held back."""


def test_it_is_told_at_times_and_wiped_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal, now = Terminal(), [100.0]
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    with _progress.showing(quiet=False) as show:
        assert show is not None
        for second in (100.5, 101.1, 101.15, 101.4):
            now[0] = second
            show(int(second - 100) << 20, 10 << 20)
    assert terminal.written.count("of 10 MiB") == 2
    assert terminal.written.endswith("\r\x1b[K")


@pytest.mark.parametrize(("is_terminal", "quiet"), [(False, False), (True, True)])
def test_nobody_is_told_who_does_not_look(is_terminal: bool, quiet: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", Terminal(is_terminal=is_terminal))
    with _progress.showing(quiet=quiet) as show:
        assert show is None


def test_a_slow_input_on_a_real_terminal(tmp_path: Path, program: list[str]) -> None:
    ours, theirs = pty.openpty()
    log = tmp_path / "pipe"
    os.mkfifo(log)
    other = tmp_path / "other.log"
    other.write_text("n1:7:7 [0] NCCL INFO Using network IB\n")
    with subprocess.Popen([*program, "parse", log, other], stdout=subprocess.PIPE, stderr=theirs) as child:
        os.close(theirs)
        with log.open("wb", buffering=0) as pipe:
            for _ in range(8):
                pipe.write(b"n1:7:7 [0] NCCL INFO Using network IB\n" * 20_000)
                time.sleep(0.3)
        out, _ = child.communicate()
    told = b""
    try:
        while part := os.read(ours, 1 << 16):
            told += part
    except OSError:  # the other end of a terminal that is closed
        pass
    os.close(ours)
    assert b"n1" in out
    assert b"ncdiag: read " in told
