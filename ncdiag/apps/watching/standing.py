"""What each process of a silent job does: its state and where in the kernel it waits (proc_pid_status(5), wchan)."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from datetime import datetime, timezone
from pathlib import Path

SILENT = "the job has printed nothing for {seconds:.0f} s, since {since}"
LOGS_SILENT = "the logs did not grow for {seconds:.0f} s, since {since}"
"""The catalogue has both as ``run-silent``."""
_PROCESS = "process {pid} of the silent job is in state {state}, waits at {wchan}: {name}"
"""The catalogue has it as ``process-state``."""
_MOST = 256
"""Maximum number of processes that are read."""
_AGAIN = 0.3
"""Seconds after which processes that could not be interrupted are read again: they may have waited for a disk."""


def silence(sentence: str, seconds: float) -> str:
    """The sentence with the seconds without output and the time since when, to the second, in UTC."""
    since = datetime.fromtimestamp(time.time() - seconds, timezone.utc)
    return sentence.format(seconds=seconds, since=f"{since:%Y-%m-%dT%H:%M:%SZ}")


def standing(pids: Sequence[int], proc: Path = Path("/proc")) -> Iterator[str]:
    """A line for each process; none for one that has ended or may not be read."""
    found = {pid: _state(proc / str(pid)) for pid in pids[:_MOST]}
    waiting = [pid for pid, state in found.items() if state is not None and state[1] == "D"]
    if waiting:
        time.sleep(_AGAIN)
        found |= {pid: _state(proc / str(pid)) for pid in waiting}
    for pid, read in found.items():
        if read is not None:
            yield _PROCESS.format(pid=pid, state=read[1], wchan=_wchan(proc / str(pid)), name=read[0])


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
