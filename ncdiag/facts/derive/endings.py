"""How a process of the job ended, told from every line about it: the launcher's, the kernel's and its own."""

from __future__ import annotations

from collections.abc import Iterable

from ncdiag.facts.derive.events import CRASHES
from ncdiag.facts.model import Event
from ncdiag.facts.view import View

_BOX = 4
"""Lines within which the box of MPICH or Open MPI tells rank, host and exit code."""
SHELL_STATUS = 128
"""What a shell adds to the number of the signal that ended a program."""


def same_process(event: Event, view: View) -> Iterable[Event]:
    """The event, and those that tell of the same process: by its number, or of the same signal where it has none."""
    yield event
    number = event.fields.get("signal")
    for other in view.job.events:
        if event.event == "mpi-rank-ended" and other.event == "mpi-exit-code":
            same = 0 < other.order - event.order <= _BOX
        elif other is event or other.event not in CRASHES:
            continue
        elif event.pid is not None:
            same = other.pid == event.pid and other.host in {event.host, None}
        elif event.event == "container-oom-killed":
            same = other.event == "worker-killed" and "Out Of Memory" in other.text
        else:
            same = number is not None and other.fields.get("signal") == number and event.host in {other.host, None}
        if same:
            yield other


def process_text(events: list[Event]) -> str:
    """``Rank 3 on n1``: the process that these events are of, as far as they say."""
    rank = next((e.rank for e in events if e.rank is not None), None)
    host = next((host for e in events if (host := e.host or e.fields.get("on_host"))), None)
    fields = {name: value for e in reversed(events) for name, value in e.fields.items()}
    if rank is not None:
        name = f"Rank {rank}"
    elif "task" in fields or "tasks" in fields:
        name = f"Task {fields['task']}" if "task" in fields else f"Tasks {str(fields['tasks']).rstrip(':')}"
    elif "local_rank" in fields:
        name = f"Local rank {fields['local_rank']}"
    elif events[0].event == "node-failed":
        return f"Host {host}" if host else "A host"
    else:
        pid = next((e.pid for e in events if e.pid is not None), None)
        name = "A process" if pid is None else f"Process {pid}"
    return f"{name} on {host}" if host else name
