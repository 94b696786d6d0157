"""Run a program with limits: it cannot run forever, survive, or fill the memory.

A program gets a new session, so that it is killed with its children when its time is up; a daemon that leaves the
session survives. It has no input, an English locale, and its output is cut at `OUTPUT_LIMIT`.
"""

import contextlib
import os
import selectors
import shutil
import signal
import subprocess
import time
from typing import Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

OUTPUT_LIMIT = 8 << 20
"""Maximum number of bytes of output that are kept of one program."""

_PATHS = "/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin"  # ordinary users often lack the sbin folders
_ENGLISH = {"LC_ALL": "C", "LANGUAGE": "", "TERM": "dumb", "PAGER": "cat", "SYSTEMD_PAGER": ""}
_TICK = 0.05
_DRAIN = 0.2  # seconds in which a child of a finished program may still write


class Ran(NamedTuple):
    """How a program ended: its ``status`` (None if it did not run or was stopped), and ``why``."""

    output: bytes = b""
    errors: bytes = b""
    status: Optional[int] = None
    why: Optional[str] = None


def run(argv: Sequence[str], limit: float, cancelled: Callable[[], bool] = lambda: False) -> Ran:
    """Run a program for at most ``limit`` seconds, or until ``cancelled``. Raises nothing."""
    path = ":".join(filter(None, (os.environ.get("PATH"), _PATHS)))
    if shutil.which(argv[0], path=path) is None:
        there = shutil.which(argv[0], mode=os.F_OK, path=path)
        return Ran(why=f"{there} may not be executed" if there else "not installed")
    try:
        process = subprocess.Popen(  # noqa: S603  (a declared argument list, no shell)
            list(argv), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            start_new_session=True, env=dict(os.environ, PATH=path, **_ENGLISH),
        )  # fmt: skip
    except (OSError, ValueError) as error:
        return Ran(why=getattr(error, "strerror", None) or str(error))
    reading = _Output(process)
    try:
        stopped = reading.read(time.monotonic() + limit, cancelled)
    finally:
        _kill(process)
    output, errors = reading.texts()
    if stopped == "time":
        return Ran(output, errors, None, f"no answer within {limit:.3g} s")
    if stopped == "size":
        return Ran(
            output, errors, None, f"printed more than {OUTPUT_LIMIT >> 20} MiB, of which only the beginning was read"
        )
    return Ran(output, errors, process.returncode)


def reason(ran: Ran, said: Sequence[str]) -> Optional[str]:
    """Why a program failed, with its last words; None if it succeeded.

    ``said``: the lines of its errors, last one first, then its output.
    """
    if ran.why is not None or not ran.status:
        return ran.why
    last = next((line.strip() for line in said if line.strip()), "")
    ended = f"ended by signal {-ran.status}" if ran.status < 0 else f"exit status {ran.status}"
    return f"{ended}: {last[:200]}" if last else ended


class _Output:
    """The output of a program, read until it ends, its time is up, or the output is too long."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._process = process
        self._streams = [stream for stream in (process.stdout, process.stderr) if stream is not None]
        self._parts: Dict[int, List[bytes]] = {stream.fileno(): [] for stream in self._streams}
        self._size = 0

    def texts(self) -> Tuple[bytes, bytes]:
        """Standard output and standard error."""
        output, errors = (b"".join(parts)[:OUTPUT_LIMIT] for parts in self._parts.values())
        return output, errors

    def read(self, deadline: float, cancelled: Callable[[], bool]) -> Optional[str]:
        """Read; returns why it was stopped (``time``, ``size``), None if the program ended."""
        drained = float("inf")
        with selectors.DefaultSelector() as selector:
            for stream in self._streams:
                selector.register(stream, selectors.EVENT_READ)
            while True:
                ended, now = _has_ended(self._process), time.monotonic()
                if ended:
                    drained = min(drained, now + _DRAIN)
                if ended and (not selector.get_map() or now >= drained):
                    return None
                if self._size >= OUTPUT_LIMIT:
                    return "size"
                if now >= deadline or cancelled():
                    return "time"
                self._take(selector)

    def _take(self, selector: selectors.BaseSelector) -> None:
        if not selector.get_map():
            time.sleep(_TICK / 5)  # it closed its output and continues
        for key, _ in selector.select(_TICK):
            data = os.read(key.fd, 1 << 16)
            self._parts[key.fd].append(data)
            self._size += len(data)
            if not data:
                selector.unregister(key.fileobj)


def _has_ended(process: "subprocess.Popen[bytes]") -> bool:
    """Check without reaping: while the zombie exists, its number identifies this process group."""
    try:
        return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return True


def _kill(process: "subprocess.Popen[bytes]") -> None:
    """Kill the program with all its children; a process stuck in the kernel is left alone."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(1)
