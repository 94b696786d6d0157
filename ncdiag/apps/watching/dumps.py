"""Request data when a job hangs or has failed: dumps of PyTorch's flight recorder, and NCCL's RAS report.

A PyTorch process creates a named pipe for each rank and writes its dump when something is written to the pipe, without
ending the job (torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp, DumpPipe).
"""

from __future__ import annotations

import contextlib
import glob
import os
import stat
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from ncdiag.agent.run import run
from ncdiag.text import Text, TextSource

WAIT = 5.0
"""Seconds to wait for the dumps: the thread checks its pipe once a second (TORCH_NCCL_COORD_CHECK_MILSEC)."""
_TICK = 0.1
_LIMIT = 10.0
"""Timeout in seconds for ``ncclras``, which itself waits 5 for ranks that do not answer."""


def ask_for_dumps(pipes: str, dumps: str) -> None:
    """Request a dump from every rank of this host, and wait a limited time for the dumps."""
    before = _times(dumps)
    asked = sum(map(_asked, _beginning_with(pipes, ".pipe")))
    deadline = time.monotonic() + WAIT
    while asked and len(_times(dumps) - before) < asked and time.monotonic() < deadline:
        time.sleep(_TICK)


def _times(dumps: str) -> set[tuple[str, int]]:
    """The existing dumps, each with the time at which it was written."""
    return {(path, Path(path).stat().st_mtime_ns) for path in written(dumps, 0)}


def _beginning_with(begin: str, end: str = "") -> list[str]:
    return sorted(glob.glob(f"{glob.escape(begin)}*{end}"))  # noqa: PTH207  (the beginning of a path is not a folder)


def _asked(path: str) -> bool:
    try:
        if not stat.S_ISFIFO(os.lstat(path).st_mode):
            return False
        handle = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
    except OSError:  # no process reads it
        return False
    with contextlib.suppress(OSError):
        os.write(handle, b"1\n")
    os.close(handle)
    return True


def written(dumps: str, since: float) -> Iterator[str]:
    """Paths of the dumps that were written after ``since`` (seconds since the epoch), sorted."""
    for path in _beginning_with(dumps):
        with contextlib.suppress(OSError):
            status = Path(path).stat()
            if stat.S_ISREG(status.st_mode) and status.st_size and status.st_mtime >= since:
                yield path


def ras(environment: Mapping[str, str]) -> Text | None:
    """The output of ``ncclras`` on the job on this host; None if the program does not exist or gives no answer."""
    host, _, port = environment.get("NCCL_RAS_ADDR", "").rpartition(":")
    where = ["-h", host.strip("[]"), "-p", port] if host and port else []
    answer = run(["ncclras", "-v", *where], _LIMIT)
    if not answer.output:
        return None
    return TextSource.of_bytes("ncclras -v", b"$ ncclras -v\n" + answer.output)
