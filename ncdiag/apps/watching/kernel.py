"""Did the kernel end a process of the job: its log since the job began, and its count of kills for lack of memory.

And where it puts the core file of one that crashed (core(5)).
"""

from __future__ import annotations

import contextlib
import errno
import os
import time
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path

from ncdiag.text import Text, TextSource, reason_of

_LOG = "/dev/kmsg"
_RECORD = 8192
"""Maximum size of a record of the kernel's log in bytes (CONSOLE_EXT_LOG_MAX)."""
_MOST = 4000
"""Maximum number of records that are read."""
_COUNTERS = ("/sys/fs/cgroup/memory.events", "/proc/vmstat")
"""Files with a line ``oom_kill N``; `_groups` has those of the control groups of this process."""


_PATTERN = Path("/proc/sys/kernel/core_pattern")
_LIMITS, _CORE_LIMIT = Path("/proc/self/limits"), "Max core file size "


def core_files(pattern: Path = _PATTERN, limits: Path = _LIMITS) -> Iterator[Text]:
    """The limit on core files that the job got from this process, and the kernel's pattern; none if it is hidden.

    The catalogue has the line as ``run-core-file``.
    """
    with contextlib.suppress(OSError):
        rows = limits.read_text(encoding="ascii", errors="replace").splitlines()
        limit = next((row.split()[4] for row in rows if row.startswith(_CORE_LIMIT)), "unknown")
        text = pattern.read_text(encoding="utf-8", errors="replace").partition("\n")[0]
        line = f"core files: the limit is {limit}, the pattern is {text}\n"
        yield TextSource.of_bytes("/proc/sys/kernel/core_pattern", line.encode())


class Kernel:
    """What the kernel reports from the moment on at which this object is made, without any work until it is asked."""

    def __init__(self) -> None:
        """Note the end of the kernel's log, and the counts."""
        self._before, self._handle, self.not_seen = _kills(), -1, ""
        """``not_seen``: why the kernel's log cannot be read, as a phrase; empty if it can."""
        try:
            self._handle = os.open(_LOG, os.O_RDONLY | os.O_NONBLOCK)
            os.lseek(self._handle, 0, os.SEEK_END)
        except OSError as error:
            self.not_seen = f"the kernel's log ({reason_of(error)})"

    def texts(self) -> Iterator[Text]:
        """What is new, as the outputs of commands that a person on this host would paste; the log is read once."""
        at = f"root@{os.uname().nodename.partition('.')[0]}:~# "
        kills = _kills() - self._before
        if kills > 0:
            text = f"{at}cat /sys/fs/cgroup/memory.events\noom_kill {kills}\n"
            yield TextSource.of_bytes("the count of kills for lack of memory", text.encode())
        lines = list(self._lines())
        if lines:
            text = "\n".join([f"{at}dmesg --time-format iso", *lines, ""])
            yield TextSource.of_bytes("the kernel's log", text.encode())

    def _lines(self) -> Iterator[str]:
        """The new lines of the kernel's log, as ``dmesg --time-format iso`` prints them."""
        booted = time.time() - time.clock_gettime(time.CLOCK_MONOTONIC)
        for _ in range(_MOST if self._handle >= 0 and not self.not_seen else 0):
            try:
                record = os.read(self._handle, _RECORD)
            except OSError as error:
                if error.errno == errno.EPIPE:  # the log overwrote what was not read yet
                    continue
                return
            with contextlib.suppress(ValueError, IndexError):
                head, _, rest = record.decode(errors="replace").partition(";")
                at = datetime.fromtimestamp(booted + int(head.split(",")[2]) / 1e6, timezone.utc)
                yield f"{at.isoformat(timespec='microseconds').replace('.', ',')} {rest.partition(chr(10))[0]}"


def _kills() -> int:
    """The largest count of kills that a readable file shows; 0 if none can be read."""
    return max((_count(path) for path in (*_COUNTERS, *_groups())), default=0)


def _count(path: str) -> int:
    with contextlib.suppress(OSError, ValueError, IndexError):
        for line in Path(path).read_text().splitlines():
            if line.startswith("oom_kill "):
                return int(line.split()[1])
    return 0


def _groups() -> Iterator[str]:
    """The files with the counts of the control groups of this process (cgroups(7)): versions 2 and 1."""
    with contextlib.suppress(OSError, ValueError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            _, controllers, group = line.split(":", 2)
            if not controllers:
                yield f"/sys/fs/cgroup{group}/memory.events"
            elif "memory" in controllers.split(","):
                yield f"/sys/fs/cgroup/memory{group}/memory.oom_control"
