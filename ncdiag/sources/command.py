"""Running the declared commands of ``collectors.toml``: nothing waits for ever, stays behind or floods the memory.

A program gets its own session, so that it is killed with its children when its time is up; one that leaves its session
itself (a daemon) is beyond that. It reads nothing, speaks English, and its output is cut at `OUTPUT_LIMIT`.
"""

from __future__ import annotations

import contextlib
import functools
import os
import selectors
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from ncdiag import toml
from ncdiag.sources.files import TextSource

OUTPUT_LIMIT = 8 << 20
"""Bytes of output that are kept of one command."""

_PATHS = "/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin"  # ordinary users often lack the sbin folders
_TICK = 0.05
_DRAIN = 0.2  # seconds in which a child of a finished program may still write


class Command(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An entry of ``collectors.toml``, where the fields are described."""

    name: str
    argv: tuple[str, ...]
    kind: str
    why: str
    limit: float
    unless: str = ""
    needs: tuple[str, ...] = ()
    absent: str = ""
    root: bool = False
    accept: tuple[int, ...] = (0,)

    @property
    def line(self) -> str:
        """The command as a person would type it."""
        return " ".join(f"'{word}'" if " " in word else word for word in self.argv)


class CommandResult(msgspec.Struct, frozen=True):
    """``output`` (standard output alone, clean lines), exit ``status`` and, when something went wrong, the ``reason``.

    ``status`` is None for a program that did not run or was killed.
    """

    output: tuple[str, ...] = ()
    status: int | None = None
    reason: str | None = None


class FileReader(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A ``[[reader]]`` of ``collectors.toml``."""

    what: str
    why: str
    files: tuple[str, ...]
    read: str
    root: bool = False


class Asked(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"source": "from"}):
    """An ``[[asked]]`` of ``collectors.toml``."""

    what: str
    why: str
    source: str
    limit: float
    root: bool = False


class Collectors(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole of ``collectors.toml``."""

    reader: tuple[FileReader, ...]
    asked: tuple[Asked, ...]
    command: tuple[Command, ...]


@functools.cache
def collectors() -> Collectors:
    """Everything that a look at a host consists of."""
    text = Path(__file__).with_name("collectors.toml").read_text(encoding="utf-8")
    return msgspec.convert(toml.loads(text), Collectors)


def table() -> tuple[Command, ...]:
    """The declared commands."""
    return collectors().command


def clean_lines(data: bytes) -> tuple[str, ...]:
    """Bytes that a program or a small file gave, as clean lines."""
    text = b"".join(TextSource.of_bytes("", data).buffers()).decode("utf-8", "replace")
    return tuple(text.split("\n")[:-1])


def run_command(argv: Sequence[str], timeout: float, cancel: threading.Event | None = None) -> CommandResult:
    """Run a program for at most ``timeout`` seconds, or until ``cancel`` is set. Raises nothing."""
    program = shutil.which(argv[0], path=f"{os.environ.get('PATH', '')}:{_PATHS}")
    if program is None:
        there = shutil.which(argv[0], mode=os.F_OK, path=f"{os.environ.get('PATH', '')}:{_PATHS}")
        return CommandResult(reason=f"{there} may not be executed" if there else "not installed")
    environment = {**os.environ, "LC_ALL": "C", "LANGUAGE": "", "TERM": "dumb", "PAGER": "cat", "SYSTEMD_PAGER": ""}
    try:
        process = subprocess.Popen(  # noqa: S603  (a declared argument list, no shell)
            list(argv), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            start_new_session=True, env=environment,
        )  # fmt: skip
    except (OSError, ValueError) as error:
        return CommandResult(reason=getattr(error, "strerror", None) or str(error))
    output = _Output(process)
    try:
        stopped = output.read(time.monotonic() + timeout, cancel or threading.Event())
    finally:
        _kill(process)
    return _result(*output.texts(), stopped, process.returncode, timeout)


class _Output:
    """What a program writes, read until it has ended, its time is up or it is too much."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._streams = [stream for stream in (process.stdout, process.stderr) if stream is not None]
        self._parts: dict[int, list[bytes]] = {stream.fileno(): [] for stream in self._streams}
        self._size = 0

    def texts(self) -> tuple[bytes, bytes]:
        """Standard output and standard error."""
        out, err = (b"".join(parts) for parts in self._parts.values())
        return out, err

    def read(self, deadline: float, cancel: threading.Event) -> str | None:
        """Read; the result says why it was stopped (``time``, ``size``), None when the program came to its end."""
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
                if now >= deadline or cancel.is_set():
                    return "time"
                self._take(selector)

    def _take(self, selector: selectors.BaseSelector) -> None:
        if not selector.get_map():
            time.sleep(_TICK / 5)  # it closed its output and goes on
        for key, _ in selector.select(_TICK):
            data = os.read(key.fd, 1 << 16)
            self._parts[key.fd].append(data)
            self._size += len(data)
            if not data:
                selector.unregister(key.fileobj)


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Look without reaping: as long as the zombie stands, its number names this group and no other."""
    try:
        return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return True


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End the program with all its children; a process stuck in the kernel is left to it."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(1)


def _result(out: bytes, err: bytes, stopped: str | None, status: int | None, timeout: float) -> CommandResult:
    lines = clean_lines(out[:OUTPUT_LIMIT])
    if stopped == "time":
        return CommandResult(lines, None, f"no answer within {timeout:.3g} s")
    if stopped == "size":
        return CommandResult(
            lines, None, f"printed more than {OUTPUT_LIMIT >> 20} MiB, of which the beginning was read"
        )
    if status:
        said = next((line.strip() for line in (*reversed(clean_lines(err)), *lines) if line.strip()), "")
        ended = f"ended by signal {-status}" if status < 0 else f"exit status {status}"
        return CommandResult(lines, status, f"{ended}: {said[:200]}" if said else ended)
    return CommandResult(lines, status)
