"""``ncdiag demo``: three faults, at once in a pipe, one after the other on a terminal."""

from __future__ import annotations

import os
import pty
import subprocess
from collections.abc import Callable
from pathlib import Path

from processes import seen_on

from ncdiag.commands.demo import FAULTS

Run = Callable[..., subprocess.CompletedProcess[bytes]]
ASKED = b"Enter: next example"


def test_in_a_pipe_all_three_are_shown_and_nobody_is_asked(ncdiag: Run, tmp_path: Path) -> None:
    done = ncdiag("demo", cwd=tmp_path)
    text = done.stdout.decode()
    assert (done.returncode, done.stderr) == (0, b"")
    assert text.count("ROOT CAUSE") == len(FAULTS) == 3
    assert [name for name in ("socket-virtual-ifname", "roce-gid", "shm-too-small") if name not in text] == []
    assert ASKED.decode() not in text
    assert "\x1b" not in text


def test_on_a_terminal_it_waits_for_a_key_and_can_be_left(program: list[str]) -> None:
    leader, follower = pty.openpty()
    with subprocess.Popen([*program, "demo"], stdin=follower, stdout=follower, stderr=follower) as running:
        os.close(follower)
        for word in (b"\n", b"q\n"):
            seen_on(leader, ASKED)
            os.write(leader, word)
        assert running.wait() == 0
    os.close(leader)
