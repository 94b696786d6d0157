"""Properties of lines that report failures: the process they are about, and the reason in the line."""

from __future__ import annotations

from collections.abc import Iterable

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Event, Host, Job
from ncdiag.facts.view import View

_BOX = 4
"""The number of lines within which the box of MPICH or Open MPI prints rank, host and exit code."""
SHELL_STATUS = 128
"""A shell's exit status for a program that a signal ended is this plus the signal number."""
_ADDRESS = lazy_regex(r"\b[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}(?:\.[0-7])?\b")
_FIRST_OF_SEVERAL = "gpu-named"
_NEAR = 2
"""The number of lines after its name within which the driver prints what happened to a GPU."""


def same_process(event: Event, view: View) -> Iterable[Event]:
    """The event, and others about the same process: by process id, or by the same signal where it has none."""
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


@derived
def ended(event: Event, view: View) -> str:
    """The process that the line is about, ``Task 17 on node03``, with details from other lines about it."""
    return process_text(list(same_process(event, view)))


def process_text(events: list[Event]) -> str:
    """The process that these events are about, ``Rank 3 on n1``, as far as it is known."""
    rank = next((e.rank for e in events if e.rank is not None), None)
    host = next((host for e in events if (host := e.host or e.fields.get("on_host"))), None)
    fields = {name: value for e in reversed(events) for name, value in e.fields.items()}
    if rank is not None:
        name = f"Rank {rank}"
    elif "task" in fields or "tasks" in fields:
        numbers = str(fields.get("task", fields.get("tasks"))).rstrip(":")
        name = f"Task {numbers}" if numbers.isdecimal() else f"Tasks {numbers}"
    elif "local_rank" in fields:
        name = f"Local rank {fields['local_rank']}"
    elif "container" in fields:
        name = f"Container {fields['container']}"
    elif events[0].event == "node-failed":
        return f"Host {host}" if host else "A host"
    else:
        pid = next((e.pid for e in events if e.pid is not None), None)
        name = "A process" if pid is None else f"Process {pid}"
    return f"{name} on {host}" if host else name


def tasks_text(numbers: str) -> str:
    """A list of task numbers in words: ``task 5``, ``tasks 2, 6``, ``tasks 0-3``."""
    return f"task {numbers}" if numbers.isdecimal() else f"tasks {numbers}"


CRASHES = {
    "worker-crashed", "worker-killed", "worker-bus-error", "worker-failed", "mpi-rank-signal", "mpi-signal",
    "segfault", "segfault-in-nccl", "oom-kill", "container-oom-killed", "host-memory-exhausted",
    "cuda-illegal-access", "cuda-launch-failure", "cuda-memory-error", "cuda-nvlink-error",
    "torch-dataloader-killed", "torch-dataloader-bus-error", "node-failed", "mpi-rank-ended",
}  # fmt: skip
"""Events that report that a process of the job ended or was ended."""


@derived
def who(event: Event, view: View) -> str:
    """Who the message is about, ``Rank 3 on n2``, as far as known.

    ``A program on n2`` for a test or another RDMA user.
    """
    name = f"Rank {event.rank}" if event.rank is not None else "A program" if event.origin == "rdma" else "A rank"
    host = event.host or event.fields.get("on_host")
    return f"{name} on {host}" if host else name


@derived
def pci_paths_missing(host: Host, view: View) -> bool:
    """Did NCCL find no PCI bus folder in /sys?"""
    found = view.events_on(host.name, ["pci-path-missing"])
    missing = [e for e in found if str(e.fields.get("path", "")).startswith("/sys/class/pci_bus/")]
    for event in missing[:1]:
        view.note(event)
    return bool(missing)


CODES = frozenset({
    "framework-nccl-error", "torch-nccl-error", "torch-result-system-error", "torch-result-cuda-error",
    "torch-result-internal-error", "torch-result-invalid-usage", "torch-result-invalid-argument",
    "torch-result-remote-error",
})  # fmt: skip
"""Events that contain a return code of NCCL and nothing else."""
OWN_FAILURES = frozenset({"cause", "symptom"})


@derived
def has_failed(job: Job, view: View) -> bool:
    """Does a message report a failure? Without one a job may still be slow or hang."""
    return any(event.kind in OWN_FAILURES for event in job.events)


@derived
def tells_no_code(job: Job, view: View) -> bool:
    """Does the input contain no return code of NCCL?"""
    return not any(event.event in CODES for event in job.events)


@derived
def because(event: Event, view: View) -> str:
    """The reason that the line gives, ``: Bad address``; empty where it gives none."""
    error = event.fields.get("error")
    return f": {error}" if error else ""


@derived
def other_side(event: Event, view: View) -> str:
    """The peer that the message names, or ``its peer``."""
    return event.peer or "its peer"


@derived
def on_its_host(event: Event, view: View) -> str:
    """The host of the message, `` on n2``; empty where it is not known."""
    return f" on {event.host}" if event.host else ""


@derived
def amd_gpu(event: Event, view: View) -> str:
    """The GPU that the message names: ``AMD GPU 0000:83:00.0``, ``AMD GPU at node 8 of rocminfo``, or ``an AMD GPU``.

    The ROCm runtime numbers the nodes of its topology, CPUs among them.
    """
    fields = event.fields
    if "pci" in fields:
        return f"AMD GPU {fields['pci']}"
    return f"AMD GPU at node {fields['gpu_node']} of rocminfo" if "gpu_node" in fields else "an AMD GPU"


@derived
def at_device(event: Event, view: View) -> str:
    """The PCI address or device file that a kernel line names, `` (0000:3b:00.0)``; empty without either.

    In an error that a port reports about a device, the address of the device comes last. The driver names a GPU on the
    line before the one that says what happened to it (osinit.c and osapi.c of the open kernel modules).
    """
    span = event.provenance.get("")
    found = _ADDRESS.findall(span.text or event.text) if span is not None else []
    if found:
        return f" ({found[-1]})"
    if "pci" in event.fields:
        return f" ({event.fields['pci']})"
    if "gpu_minor" in event.fields:
        return f" (/dev/nvidia{event.fields['gpu_minor']})"
    named = [e for e in view.events_on(event.host, [_FIRST_OF_SEVERAL]) if 0 < event.order - e.order <= _NEAR]
    return f" ({named[-1].fields['pci']})" if named else ""
