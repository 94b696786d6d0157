"""How long commands take and how much memory they need."""

from __future__ import annotations

import contextlib
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import perf_counter, sleep
from typing import TypeVar

T = TypeVar("T")

ANSWERS = frozenset({0, 1, 3})
"""Exit codes that are answers: 1 where faults were found, or nothing by grep; 3 where there was nothing to judge."""
_LOOK = 0.002
"""Seconds between two looks at the memory of processes."""


def timed(what: str, work: Callable[[], T], clock: Callable[[], float] = perf_counter) -> T:
    """What ``work`` gives; prints ``what`` and the seconds that it took."""
    begin = clock()
    result = work()
    print(f"{what:60}{clock() - begin:>10.1f}", flush=True)
    return result


@contextlib.contextmanager
def started(command: Sequence[str]) -> Iterator[subprocess.Popen[bytes]]:
    """A process whose output goes to a file: grep stops at the first hit when it writes to /dev/null."""
    with tempfile.TemporaryFile() as out, subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL) as child:
        yield child
    if child.returncode not in ANSWERS:
        sys.exit(f"{' '.join(command)} ended with {child.returncode}")


def seconds(command: Sequence[str]) -> float:
    """Seconds that the whole process took."""
    begin = perf_counter()
    with started(command) as child:
        child.wait()
        return perf_counter() - begin


def cpu_seconds(command: Sequence[str]) -> float:
    """CPU seconds of the whole process and of those that it started."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds(command)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def side_by_side(commands: Sequence[Sequence[str]], rounds: int) -> list[float]:
    """Median seconds of each command, run in turns so that a busy moment hits all of them."""
    taken = [[seconds(command) for command in commands] for _ in range(rounds)]
    return [statistics.median(times) for times in zip(*taken, strict=True)]


def peak(command: Sequence[str]) -> float:
    """MiB of all processes of a command, each at its own peak (VmHWM of proc(5)), added up.

    What processes share is counted for each of them. Looking costs time: this run is not for timing.
    """
    most: dict[int, int] = {}
    with started(command) as child:
        while child.poll() is None:
            for pid in _family(child.pid):
                most[pid] = max(most.get(pid, 0), _resident(pid))
            sleep(_LOOK)
    return sum(most.values()) / 1024


def _family(pid: int) -> Iterator[int]:
    """A process and those that it started, and so on."""
    yield pid
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208  (names alone, many times a second)
            for child in Path(f"/proc/{pid}/task/{task}/children").read_text(encoding="ascii").split():
                yield from _family(int(child))


def _resident(pid: int) -> int:
    """KiB of memory of a process at its peak so far; 0 when it has ended."""
    with contextlib.suppress(OSError), Path(f"/proc/{pid}/status").open(encoding="utf-8", errors="replace") as status:
        return next((int(line.split()[1]) for line in status if line.startswith("VmHWM:")), 0)
    return 0
