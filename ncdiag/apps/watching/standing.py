"""What each process of a silent job does: its state and where in the kernel it waits (proc_pid_status(5), wchan)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path

from ncdiag.apps.watching.job import descendants

SILENT = "the job has printed nothing for {seconds:.0f} s, since {since}"
LOGS_SILENT = "the logs did not grow for {seconds:.0f} s, since {since}"
"""The catalogue has both as ``run-silent``."""
_PROCESS = "process {pid} of the silent job is in state {state}, waits at {wchan}: {name}"
"""The catalogue has it as ``process-state``."""
_MOST = 256
"""Maximum number of processes that are read."""
_AGAIN = 0.3
"""Seconds after which a process that could not be interrupted is read again: it may have waited for a disk."""


def silence(sentence: str, seconds: float) -> str:
    """The sentence with the seconds without output and the time since when, to the second, in UTC."""
    since = datetime.fromtimestamp(time.time() - seconds, timezone.utc)
    return sentence.format(seconds=seconds, since=f"{since:%Y-%m-%dT%H:%M:%SZ}")


def standing(pid: int, proc: Path = Path("/proc")) -> Iterator[str]:
    """A line for a process and for each of its descendants; none for one that has ended or may not be read."""
    for number in [pid, *descendants(pid)][:_MOST]:
        found = _state(proc / str(number))
        if found is not None and found[1] == "D":
            time.sleep(_AGAIN)
            found = _state(proc / str(number))
        if found is not None:
            name, state = found
            yield _PROCESS.format(pid=number, state=state, wchan=_wchan(proc / str(number)), name=name)


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
