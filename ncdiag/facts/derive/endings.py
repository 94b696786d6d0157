"""How a process of the job ended, told from every line about it: the launcher's, the kernel's and its own."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterable

from ncdiag.facts.derive.events import CRASHES, EXCEPTION
from ncdiag.facts.model import Event
from ncdiag.facts.view import View, derived, derived_of

_EXIT_CODE = re.compile(r"Exit Code: +(\d{1,3})\b")
_BOX = 4
"""Lines within which the box of MPICH or Open MPI tells rank, host and exit code."""
SHELL_STATUS = 128
"""What a shell adds to the number of the signal that ended a program."""
_FAILURES = frozenset({"cause", "symptom"})
_NO_MEMORY = "killed for lack of host memory"
_ENDS = {
    "worker-killed": "killed", "worker-crashed": "crashed", "worker-bus-error": "bus error",
    "segfault": "segmentation fault", "segfault-in-nccl": "segmentation fault in NCCL", "oom-kill": _NO_MEMORY,
    "container-oom-killed": _NO_MEMORY, "host-memory-exhausted": "the host's memory was used up",
    "cuda-illegal-access": "a kernel used memory that is not its own", "cuda-launch-failure": "a CUDA kernel failed",
    "cuda-memory-error": "a memory fault of its GPU", "cuda-nvlink-error": "a transfer over NVLink that failed",
    "torch-dataloader-killed": "its data loader was killed",
    "torch-dataloader-bus-error": "bus error in its data loader", "node-failed": "Slurm lost it",
}  # fmt: skip
"""What the name of an event says where its line has no signal and no exit code."""


@derived
def first_end(event: Event, view: View) -> str:
    """``Rank 3 on n2 ended first (signal 11, SIGSEGV); the others report its loss``."""
    if event.event not in {*CRASHES, EXCEPTION}:
        peer = f" of {event.peer}" if event.peer else ""
        return f"A process{peer} whose output is not here ended first; the others report its loss"
    told = list(same_process(event, view))
    for other in told:
        view.note(other)
    return f"{process_text(told)} ended first ({_how(told)}); the others report its loss"


@derived_of("job-cancelled")
def ends_the_job(event: Event, view: View) -> bool:
    """Did the scheduler end the job before anything in it failed? By its time limit, for another job, or its owner."""
    return not any(e.kind in _FAILURES and e.order < event.order for e in view.job.events if e is not event)


@derived
def end_of_job(event: Event, view: View) -> str:
    """``the time limit of job 812``, as far as the line tells."""
    fields = event.fields
    name = f"{str(fields.get('what', 'job')).lower()} {fields.get('step', '')}".strip()
    reasons = {"TIME LIMIT": f"{name} reached its time limit", "PREEMPTION": f"{name} made room for another job"}
    said = f"{fields.get('reason', '')} {event.text}"
    told = next((words for reason, words in reasons.items() if reason in said), None)
    return told or f"{name} was cancelled or put back into the queue"


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


def _how(events: list[Event]) -> str:
    """The signal, else the exit code, else what the event is."""
    for event in events:
        number = event.fields.get("signal")
        if isinstance(number, int):
            return _signal(number)
    for event in events:
        told = _EXIT_CODE.search(event.text)
        code = event.fields.get("exit_code", int(told[1]) if told else None)
        if isinstance(code, int) and code:
            number = -code if code < 0 else code - SHELL_STATUS if code > SHELL_STATUS else 0
            return _signal(number) if code < 0 else f"exit code {code}" + (f": {_signal(number)}" if number else "")
    first = events[0]
    return str(first.fields["exception"]) if "exception" in first.fields else _ENDS.get(first.event, first.event)


def _signal(number: int) -> str:
    try:
        return f"signal {number}, {signal.Signals(number).name}"
    except ValueError:
        return f"signal {number}"
