"""The program in the process of the tests: `ncdiag.__main__.main` on streams of its own.

What a call changes is put back after it: streams, variables, folder, umask, signals, limits, the collector.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import gc
import io
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from ncdiag.__main__ import main
from ncdiag.base import errors

Stream = int | IO[Any] | None
_PIPE_SIZE = 1 << 20
"""Bytes that every user may let a pipe hold (pipe(7)); a longer input is a file."""
_UNFLUSHED = 120
"""The exit code of Python when standard output cannot be written at its end."""


def run(
    *arguments: str | Path, env: Mapping[str, str], cwd: str | Path | None = None, input: bytes | None = None,  # noqa: A002
    stdin: Stream = subprocess.DEVNULL, stdout: Stream = subprocess.PIPE, stderr: Stream = subprocess.PIPE,
) -> subprocess.CompletedProcess[bytes]:  # fmt: skip
    """What `subprocess.run` returns for the program with these arguments, and the whole environment ``env``."""
    words = list(map(str, arguments))
    assert words[:1] != ["run"] or "--help" in words, (
        "it ends as its job does, by a signal too, which takes a real process"
    )
    with contextlib.ExitStack() as held, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        source = held.enter_context(_fed(input)) if input is not None else _descriptor(stdin, held)
        target = _descriptor(stdout, held, out)
        errors_to = target if stderr == subprocess.STDOUT else _descriptor(stderr, held, err)
        with _kept(), _streams(source, target, errors_to), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
            os.environ.clear()
            os.environ.update(env)
            time.tzset()
            if cwd is not None:
                os.chdir(cwd)
            errors.strict = False
            sys.argv = ["ncdiag", *words]
            code = _ended(main)
        printed = [
            _whole(file) if stream == subprocess.PIPE else None for stream, file in ((stdout, out), (stderr, err))
        ]
    return subprocess.CompletedProcess(["ncdiag", *words], code, *printed)


def _ended(main: Callable[[], int]) -> int:
    """The exit code of a process that runs ``main`` to its end."""
    try:
        code = main()
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except KeyboardInterrupt:
        code = -signal.SIGINT
    except Exception:  # noqa: BLE001  (as the interpreter does)
        traceback.print_exc()
        code = 1
    try:
        sys.stdout.flush()
    except OSError:
        code = _UNFLUSHED
    with contextlib.suppress(OSError):
        sys.stderr.flush()
    return code


@contextlib.contextmanager
def _fed(data: bytes) -> Iterator[int]:
    """What a process gets that is fed these bytes."""
    if len(data) > _PIPE_SIZE:
        with tempfile.TemporaryFile() as file:
            file.write(data)
            file.seek(0)
            yield file.fileno()
        return
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, _PIPE_SIZE)
    os.write(writer, data)
    os.close(writer)
    try:
        yield reader
    finally:
        os.close(reader)


def _descriptor(stream: Stream, held: contextlib.ExitStack, pipe: IO[bytes] | None = None) -> int:
    if stream == subprocess.PIPE and pipe is not None:
        return pipe.fileno()
    if stream == subprocess.DEVNULL:
        nowhere = os.open(os.devnull, os.O_RDWR)
        held.callback(os.close, nowhere)
        return nowhere
    assert stream is not None, "a stream that is inherited takes a real process"
    if isinstance(stream, int):
        assert stream >= 0, "a pipe to standard input takes a real process"
        return stream
    return stream.fileno()


def _whole(file: IO[bytes]) -> bytes:
    file.seek(0)
    return file.read()


@contextlib.contextmanager
def _streams(*descriptors: int) -> Iterator[None]:
    """The descriptors as 0, 1 and 2, and `sys.stdin`, `sys.stdout` and `sys.stderr` as Python makes them of these."""
    before, saved = (sys.stdin, sys.stdout, sys.stderr), [os.dup(number) for number in range(3)]
    for stream in before[1:]:
        stream.flush()
    try:
        for number, descriptor in enumerate(descriptors):
            os.dup2(descriptor, number)
        sys.stdin, sys.stdout, sys.stderr = (_text(number) for number in range(3))
        yield
    finally:
        for stream in (sys.stdin, sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError, AttributeError):
                stream.close()
        sys.stdin, sys.stdout, sys.stderr = before
        for number, descriptor in enumerate(saved):
            os.dup2(descriptor, number)
            os.close(descriptor)


def _text(number: int) -> io.TextIOWrapper:
    raw = io.FileIO(number, "wb" if number else "rb", closefd=False)
    buffer = io.BufferedWriter(raw) if number else io.BufferedReader(raw)
    is_errors = number == 2
    return io.TextIOWrapper(
        buffer, encoding="utf-8", errors="backslashreplace" if is_errors else "strict", line_buffering=is_errors
    )


@contextlib.contextmanager
def _kept() -> Iterator[None]:
    """Put back what the program changes in the process that is its own."""
    environment, folder, argv = dict(os.environ), os.open(".", os.O_RDONLY), sys.argv
    handlers = {number: signal.getsignal(number) for number in signal.valid_signals()}
    limits = {kind: resource.getrlimit(kind) for kind in (resource.RLIMIT_NOFILE, resource.RLIMIT_CORE)}
    umask = os.umask(0)
    os.umask(umask)
    strict, collects = errors.strict, gc.isenabled()
    try:
        yield
    finally:
        errors.strict, sys.argv = strict, argv
        (gc.enable if collects else gc.disable)()
        atexit.unregister(gc.freeze)
        os.umask(umask)
        os.environ.clear()
        os.environ.update(environment)
        time.tzset()
        os.chdir(folder)
        os.close(folder)
        for number, handler in handlers.items():
            if signal.getsignal(number) is not handler:
                signal.signal(number, handler)
        for kind, limit in limits.items():
            resource.setrlimit(kind, limit)
