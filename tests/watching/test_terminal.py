"""``ncdiag run`` on a terminal: the job has one as well, with its keys and its size, and what it prints is read."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import shlex
import signal
import struct
import sys
import termios
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from processes import left_running, running, until

from ncdiag.apps.watching import tee
from ncdiag.commands import _options, _run

SHOWS = """
import os, sys
print([os.isatty(n) for n in range(3)], os.get_terminal_size(1), os.get_terminal_size(2), sys.stdout.encoding)
sys.stdout.buffer.write(b"\\x1b[31mred\\x1b[0m \\r 10% \\r\\n \\t\\xff\\x00\\xe2\\x96\\x88 20%\\r")
sys.stdout.flush()
for number in range(300):
    os.write(1 + number % 2, b"%d\\n" % number)
sys.exit(3)
"""
WATCHES_SIZE = """
import os, signal, sys
def resized(number, frame):
    size = os.get_terminal_size(2)
    os.write(log, b"%d\\n" % size.columns)
log = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
signal.signal(signal.SIGWINCH, resized)
open(sys.argv[1] + ".ready", "w").close()
while not os.path.exists(sys.argv[1] + ".end"):
    signal.sigtimedwait([], 0.02)
"""
TRACEBACK = """
import sys, time
for step in range(40):
    sys.stderr.write(f"\\r\\x1b[32m{step * 2.5:3.0f}%\\x1b[0m|####      | {step}/40 [00:05<00:07, 3.1it/s]")
sys.stderr.write('''
\\x1b[31m[rank3]:\\x1b[0m Traceback (most recent call last):
\\x1b[31m[rank3]:\\x1b[0m   File "/home/me/train.py", line 88, in <module>
\\x1b[31m[rank3]:\\x1b[0m     dist.all_reduce(loss)
[rank3]: torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:3690, \
unhandled system error (run with NCCL_DEBUG=INFO for details), NCCL version 2.27.3
[rank3]: ncclSystemError: System call (e.g. socket, malloc) or external library call failed or device error.
[rank3]: Last error:
[rank3]: Call to ibv_modify_qp failed with error Connection timed out
''')
sys.exit(1)
"""


@pytest.fixture(autouse=True)
def nothing_is_left(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No process that a test started is left behind, nor one that such a process started."""
    word = uuid.uuid4().hex
    monkeypatch.setenv("NCDIAG_TEST_JOB", word)
    yield
    assert left_running(word) == []


@contextlib.contextmanager
def terminal_of(command: list[str]) -> Iterator[tuple[int, int]]:
    """The keyboard and the process id of a command whose terminal this is."""
    pid, keys = pty.fork()
    if not pid:
        resize(0, 77)
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # it may be ignored where the tests run
        os.execvp(command[0], command)  # noqa: S606
    try:
        yield keys, pid
    finally:
        with contextlib.suppress(OSError):
            os.close(keys)


def resize(keys: int, columns: int) -> None:
    fcntl.ioctl(keys, termios.TIOCSWINSZ, struct.pack("4H", 40, columns, 0, 0))


def printed(keys: int) -> bytes:
    """What is printed until nobody prints any more."""
    parts = []
    with contextlib.suppress(OSError):  # the end of a terminal
        while part := os.read(keys, 1 << 16):
            parts.append(part)
    return b"".join(parts)


def in_terminal(command: list[str], typed: Callable[[int], object] = lambda _: None) -> tuple[bytes, int]:
    """What a command prints, and how it ends; ``typed`` gets the keyboard."""
    with terminal_of(command) as (keys, pid):
        typed(keys)
        said = printed(keys)
        return said, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def python(code: str, *arguments: str | Path) -> list[str]:
    return [sys.executable, "-c", code, *map(str, arguments)]


@pytest.fixture
def quiet(program: list[str], tmp_path: Path) -> list[str]:
    """``ncdiag run`` that says nothing itself."""
    return [*program, "run", "-q", "-o", str(tmp_path / "report"), "--"]


def test_every_byte_passes_as_it_is(quiet: list[str]) -> None:
    alone = in_terminal(python(SHOWS))
    assert in_terminal([*quiet, *python(SHOWS)]) == alone
    assert alone[1] == 3
    assert alone[0].startswith(b"[True, True, True] os.terminal_size(columns=77, lines=40)")


def test_standard_input_is_that_of_the_terminal(quiet: list[str]) -> None:
    job = python("import os; print(os.ttyname(0) == os.ctermid() or os.tcgetpgrp(0) == os.getpgrp()); print(input())")

    def typed(keys: int) -> None:
        os.write(keys, b"typed\n")

    alone, watched = in_terminal(job, typed), in_terminal([*quiet, *job], typed)
    assert (sorted(watched[0].split()), watched[1]) == (sorted(alone[0].split()), 0)  # the echo comes when it comes
    assert b"True" in alone[0]


def test_the_settings_of_the_terminal_stay(quiet: list[str]) -> None:
    """Those that the job makes through standard input are made there, and none is made by ncdiag."""
    alone = in_terminal(["stty", "-a"])
    assert in_terminal(["sh", "-c", '"$@" >/dev/null; stty -a', "sh", *quiet, "true"]) == alone
    assert in_terminal(["sh", "-c", '"$@"; stty -a', "sh", *quiet, "stty", "-echo"]) != alone


def test_one_terminal_under_two_names_keeps_the_order(quiet: list[str]) -> None:
    job = python("import os\nfor n in range(300): os.write(1 + n % 2, b'%d\\n' % n)")
    said, _ = in_terminal(["sh", "-c", '"$@" 2>/dev/tty', "sh", *quiet, *job])
    assert said.split() == [b"%d" % n for n in range(300)]


def test_what_is_printed_is_diagnosed(program: list[str]) -> None:
    said, code = in_terminal([*program, "run", "--format", "json", "--", *python(TRACEBACK)])
    assert code == 1
    assert b'"ib-modify-qp-timeout"' in said
    assert b'"standard output"' in said
    assert b"bytes of its output; NCCL wrote no log" in said


def test_a_new_size_is_followed(quiet: list[str], tmp_path: Path) -> None:
    log = tmp_path / "sizes"

    def typed(keys: int) -> None:
        assert until((tmp_path / "sizes.ready").exists)
        resize(keys, 123)
        assert until(lambda: log.read_text().endswith("123\n"))
        (tmp_path / "sizes.end").touch()

    assert in_terminal([*quiet, *python(WATCHES_SIZE, log)], typed)[1] == 0


@contextlib.contextmanager
def in_shell(command: list[str]) -> Iterator[int]:
    """The keyboard of a shell in which the command runs in the foreground; the shell ends well, whatever it says."""
    with terminal_of(["sh", "-i"]) as (keys, pid):
        os.write(keys, f"{shlex.join(command)}\n".encode())
        yield keys
        os.write(keys, b"exit 4\n")
        printed(keys)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 4


def states(words: str) -> list[str]:
    """The states of ncdiag and of the job that has these words (proc_pid_stat(5))."""
    found = []
    for pid in running(words):
        with contextlib.suppress(OSError):
            if tee.__file__ not in Path(f"/proc/{pid}/cmdline").read_text():
                found.append(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0])
    return found


def test_a_shell_stops_the_job_and_brings_it_back(quiet: list[str], tmp_path: Path) -> None:
    """A size that changed meanwhile is news when the job is in the foreground again."""
    log, job = tmp_path / "sizes", tmp_path / "job.py"
    job.write_text(WATCHES_SIZE)
    with in_shell([*quiet, sys.executable, str(job), str(log)]) as keys:
        assert until((tmp_path / "sizes.ready").exists)
        os.write(keys, b"\x1a")
        assert until(lambda: states(str(job)) == ["T", "T"])
        resize(keys, 99)
        os.write(keys, b"fg\n")
        assert until(lambda: log.read_text().endswith("99\n"))
        (tmp_path / "sizes.end").touch()
        assert until(lambda: not states(str(job)))


def test_a_job_that_does_not_stop_stays_in_the_foreground(quiet: list[str], tmp_path: Path) -> None:
    log, job = tmp_path / "signals", tmp_path / "job.py"
    job.write_text(COUNTS)
    with in_shell([*quiet, sys.executable, str(job), str(log)]) as keys:
        assert until((tmp_path / "signals.ready").exists)
        os.write(keys, b"\x1a")
        assert until(lambda: log.read_text() == f"{signal.SIGTSTP:d}\n")
        (tmp_path / "signals.end").touch()
        assert until(lambda: not states(str(job)))


COUNTS = """
import os, signal, sys
def count(number, frame):
    os.write(log, b"%d\\n" % number)
log = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
for name in ("SIGINT", "SIGTSTP"):
    signal.signal(getattr(signal, name), count)
open(sys.argv[1] + ".ready", "w").close()
while not os.path.exists(sys.argv[1] + ".end"):
    signal.sigtimedwait([], 0.02)
"""


def test_ctrl_c_reaches_the_job_once(program: list[str], tmp_path: Path) -> None:
    log = tmp_path / "signals"

    def typed(keys: int) -> None:
        assert until((tmp_path / "signals.ready").exists)
        os.write(keys, b"\x03")
        assert until(lambda: log.exists() and log.read_text())
        (tmp_path / "signals.end").touch()

    _, code = in_terminal([*program, "run", "--", *python(COUNTS, log)], typed)
    assert (code, log.read_text().split()) == (0, [str(signal.SIGINT.value)])


def test_ctrl_c_ends_both_as_it_ends_the_job_and_is_no_fault(program: list[str], tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    code = "import os, sys, time; print('step 1'); open(sys.argv[1], 'w').close(); time.sleep(1000)"

    def typed(keys: int) -> None:
        assert until(ready.exists)
        os.write(keys, b"\x03")

    said, ended = in_terminal([*program, "run", "--", *python(code, ready)], typed)
    assert ended == -signal.SIGINT
    assert b"KeyboardInterrupt" in said
    assert b"ncdiag: the job was interrupted and was ended by signal 2 (SIGINT); no fault found; read " in said
    assert b"NCD" not in said


def test_a_signal_at_once_does_not_end_what_copies_the_output(quiet: list[str]) -> None:
    """It shares the process group of the job until it is at work."""
    said, code = in_terminal([*quiet, "sh", "-c", "trap '' INT TERM; kill -INT 0; kill -TERM 0; echo whole; exit 3"])
    assert (said, code) == (b"whole\r\n", 3)


def test_ctrl_c_does_not_hide_a_root_cause(program: list[str], tmp_path: Path, project: Path) -> None:
    ready, log = tmp_path / "ready", project / "fixtures" / "cases" / "veth" / "nccl.log"

    def typed(keys: int) -> None:
        assert until(ready.exists)
        os.write(keys, b"\x03")

    job = ["sh", "-c", f"cat {log}; touch {ready}; exec sleep 1000"]
    said, code = in_terminal([*program, "run", "--", *job], typed)
    assert code == -signal.SIGINT
    assert b"socket-virtual-ifname" in said


def test_a_process_that_is_left_behind_goes_on_printing(quiet: list[str], tmp_path: Path) -> None:
    ended, closed = tmp_path / "ended", tmp_path / "closed"
    left = f"while [ ! -e {ended} ]; do sleep 0.05; done; echo late; touch {closed}"
    job = [*quiet, "sh", "-c", f"({left}) & echo early"]
    shell = f'"$@"; touch {ended}; while [ ! -e {closed} ]; do sleep 0.05; done'
    said, code = in_terminal(["sh", "-c", shell, "sh", *job])
    assert (said.split(), code) == ([b"early", b"late"], 0)


def test_a_window_that_is_closed_is_an_error_for_the_job(quiet: list[str], tmp_path: Path) -> None:
    ready, why = tmp_path / "ready", tmp_path / "why"
    code = (
        "import os, signal, sys, time\nsignal.signal(signal.SIGHUP, signal.SIG_IGN)\nopen(sys.argv[1], 'w').close()\n"
    )
    code += "try:\n    while True: os.write(1, b'x' * 100); time.sleep(0.001)\n"
    code += "except OSError as error: open(sys.argv[2], 'w').write(str(error.errno))"
    with terminal_of([*quiet, *python(code, ready, why)]) as (keys, pid):
        assert until(ready.exists)
        os.close(keys)
        os.waitpid(pid, 0)
    assert until(lambda: why.exists() and why.read_text()) == "5"


@pytest.mark.parametrize(
    "other", ["pipe", pytest.param("file", marks=pytest.mark.long), pytest.param("nothing", marks=pytest.mark.long)]
)
def test_only_one_stream_is_on_the_terminal(program: list[str], tmp_path: Path, other: str) -> None:
    target = {"file": f">{tmp_path}/out", "pipe": f"| cat >{tmp_path}/out", "nothing": ">/dev/null"}[other]
    job = python("import os, sys; os.write(1, b'out'); os.write(2, b'%d' % os.isatty(2)); sys.exit(1)")
    report = tmp_path / "report"
    shell = f'"$@" {target}'
    said, _ = in_terminal(["sh", "-c", shell, "sh", *program, "run", "--format", "json", "-o", str(report), "--", *job])
    assert said.startswith(b"1ncdiag: the job ended with 1")
    assert (b", not its standard output;" in said) == (other == "nothing")
    assert ("standard output of the job (not a file, a pipe or a terminal)" in report.read_text()) == (
        other == "nothing"
    )
    if other != "nothing":
        assert (tmp_path / "out").read_text() == "out"


@contextlib.contextmanager
def one_terminal() -> Iterator[list[bytes]]:
    """Standard output and standard error are a terminal; what was printed on it is in the list afterwards."""
    saved = [os.dup(1), os.dup(2)]
    end, screen = os.openpty()
    said: list[bytes] = []
    for stream in (1, 2):
        os.dup2(screen, stream)
    os.close(screen)
    try:
        yield said
    finally:
        sys.stdout.flush()
        for stream, handle in zip((1, 2), saved, strict=True):
            os.dup2(handle, stream)
            os.close(handle)
        said.append(printed(end))
        os.close(end)


@pytest.fixture(autouse=True)
def own_handlers() -> Iterator[None]:
    before = signal.getsignal(signal.SIGCHLD)
    yield
    signal.signal(signal.SIGCHLD, before)


def runner(report: Path, *argv: str) -> _run.Runner:
    return _run.Runner(argv, _options.Options(output=report), 0, None, None, stacks="never")


def test_without_a_pseudo_terminal_the_job_has_the_real_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def none() -> tuple[int, int]:
        raise OSError(28, "No space left on device")

    with one_terminal() as said:
        monkeypatch.setattr(os, "openpty", none)
        watched = runner(tmp_path / "report", "sh", "-c", "[ -t 1 ] && echo yes; exit 3")
        code = watched.run()
    assert (code, said[0]) == (3, b"yes\r\n")
    notes = capsys.readouterr().err
    assert "not read: standard output of the job (it cannot be copied: No space left on device)" in notes
    assert "not its standard output and standard error" in notes
    reasons = set(watched._session.outputs.unread.values())
    assert reasons == {"it cannot be copied: No space left on device"}
