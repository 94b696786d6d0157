"""What each process of a silent job does: its state and where in the kernel it waits (proc_pid_status(5), wchan).

A process whose main thread waits in the ordinary way can have another thread that cannot: one that is in state D, or
held by a debugger, decides. If this process may read the kernel stack of that thread (as root, proc_pid_stack(5)), the
line also names the kernel module, mostly the driver, in which it waits.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from datetime import datetime, timezone
from pathlib import Path

from ncdiag.base.patterns import lazy_regex

SILENT = "the job has printed nothing for {seconds:.0f} s, since {since}"
LOGS_SILENT = "the logs did not grow for {seconds:.0f} s, since {since}"
"""The catalogue has both as ``run-silent``."""
_PROCESS = "process {pid} of the silent job is in state {state}, waits at {wchan}: {name}"
_THREAD = "thread {tid} of process {pid} of the silent job is in state {state}, waits at {wchan}: {name}"
"""The catalogue has both as ``process-state``."""
_DECIDE = frozenset("DTt")
"""States of a thread that cannot go on by itself."""
_MOST, _MOST_THREADS = 256, 4096
"""Maximum number of processes, and of threads besides the main ones, that are read."""
_MODULE = lazy_regex(r"\[([\w-]{1,60})\]$", re.MULTILINE)
"""The module of a function, at the end of its line in /proc/PID/stack."""
_AGAIN = 0.3
"""Seconds after which processes that could not be interrupted are read again: they may have waited for a disk."""


def silence(sentence: str, seconds: float) -> str:
    """The sentence with the seconds without output and the time since when, to the second, in UTC."""
    since = datetime.fromtimestamp(time.time() - seconds, timezone.utc)
    return sentence.format(seconds=seconds, since=f"{since:%Y-%m-%dT%H:%M:%SZ}")


def standing(pids: Sequence[int], proc: Path = Path("/proc")) -> Iterator[str]:
    """A line for each process; none for one that has ended or may not be read."""
    places = {pid: proc / str(pid) for pid in pids[:_MOST]}
    found = {pid: _state(place) for pid, place in places.items()}
    threads = dict(_threads(pid, place) for pid, place in places.items() if (read := found[pid]) and read[1] in "SR")
    left = _MOST_THREADS
    held: dict[int, Path] = {}
    for pid, others in threads.items():
        thread = next((each for each in others[:left] if (read := _state(each)) and read[1] in _DECIDE), None)
        left = max(0, left - len(others))
        if thread is not None:
            held[pid] = thread
    waiting = [pid for pid, state in found.items() if state is not None and state[1] == "D"]
    if waiting or held:
        time.sleep(_AGAIN)
        found |= {pid: _state(places[pid]) for pid in waiting}
    for pid, read in found.items():
        state = _state(held[pid]) if pid in held else None
        if state is not None and state[1] in _DECIDE:
            yield _THREAD.format(tid=held[pid].name, pid=pid, state=state[1], wchan=_waits(held[pid]), name=state[0])
        elif read is not None:
            wchan = _waits(places[pid]) if read[1] == "D" else _wchan(places[pid])
            yield _PROCESS.format(pid=pid, state=read[1], wchan=wchan, name=read[0])


def _threads(pid: int, place: Path) -> tuple[int, list[Path]]:
    """The process with the folders of its threads, without that of the main one."""
    try:
        return pid, [each for each in (place / "task").iterdir() if each.name != str(pid)]
    except OSError:
        return pid, []


def _state(place: Path) -> tuple[str, str] | None:
    """(name, letter of the state); None if it cannot be read. The kernel escapes line ends in the name."""
    try:
        lines = (place / "status").read_text(errors="replace").splitlines()
    except OSError:
        return None
    fields = dict(line.partition(":")[::2] for line in lines)
    name, state = fields.get("Name", "").strip(), fields.get("State", "").strip()
    return (name or "?", state[:1]) if state else None


def _wchan(place: Path) -> str:
    """The function of the kernel in which it waits; ``-`` if the kernel does not show it (0)."""
    try:
        function = (place / "wchan").read_text(errors="replace").strip()
    except OSError:
        return "-"
    return function if function not in {"", "0"} else "-"


def _waits(place: Path) -> str:
    """The function of the kernel in which it waits, with the innermost module on its stack: ``down_read@nvidia``."""
    function = _wchan(place)
    try:
        found = _MODULE.search((place / "stack").read_text(errors="replace"))
    except OSError:
        return function
    return function if found is None or function == "-" else f"{function}@{found[1]}"
