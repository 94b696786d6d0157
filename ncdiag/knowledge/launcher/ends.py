"""How a process or the job ended, as the title of a finding: ``CRASHED: SIGSEGV in rank 3 on n2 (PID 4711)``."""

from __future__ import annotations

import signal

from ncdiag.facts.derived import derived, derived_of
from ncdiag.facts.model import Event, Phase, Rank
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.failures import SHELL_STATUS, ended, same_process
from ncdiag.facts.vocabulary.outcome import interrupts, open_failures
from ncdiag.knowledge.launcher.endings import signal_name, status, way_it_ended
from ncdiag.messages.vocabulary.first_ends import first_crash_order
from ncdiag.messages.vocabulary.phases import came_to, phase

RUN_ENDED, RUN_STOPPED = "run-ended", "run-stopped"
_FAULTS = frozenset({"SIGILL", "SIGTRAP", "SIGABRT", "SIGBUS", "SIGFPE", "SIGSEGV", "SIGSYS"})
"""Signals that a fault of the process itself raises."""
_VERBS = {"crash": "CRASHED", "kill": "KILLED", "stop": "STOPPED", "code": "FAILED", "command": "FAILED"}
_NOT_RUN = frozenset({126, 127})
_WORDED = (
    ("segmentation fault", "SIGSEGV"), ("segfault", "SIGSEGV"), ("aborted", "SIGABRT"), ("bus error", "SIGBUS"),
    ("floating point exception", "SIGFPE"), ("illegal instruction", "SIGILL"), ("killed", "SIGKILL"),
    *((name.lower(), name) for name in sorted({*_FAULTS, "SIGKILL", "SIGTERM", "SIGHUP"})),
)  # fmt: skip
"""Words of shells and launchers for a signal."""
_SPOKEN = frozenset({"worker-crashed", "worker-killed", "worker-bus-error", "segfault", "segfault-in-nccl"})
"""Events whose line names the signal in words."""
_CODES = {
    2: "an option or argument was refused, as argparse and shells report it",
    124: "the command timeout ended it",
    126: "the command could not be run",
    127: "the command was not found",
    255: "ssh did not connect, or the program ended with -1",
}
"""The meaning of exit codes that shells and tools agree on."""
_MOMENTS: dict[Phase, str] = {
    "rendezvous": "while the processes looked for each other", "bootstrap": "during the bootstrap of NCCL",
    "init": "while its communicator was set up", "connect": "while it connected to the other ranks",
    "first-collective": "after its communicator was complete", "later": "after the first collective",
    "end": "at the end of the job",
}  # fmt: skip


@derived
def end_heading(event: Event, view: View) -> str:
    """How and where the process ended, and how far it had come, as one phrase for a title."""
    if event.event == RUN_STOPPED:
        how = f"STOPPED by ncdiag: no output for {event.fields.get('silent_seconds')} s"
    else:
        name, code = _way(event, view)
        if not name and code is None:
            return f"{ended(event, view)} ended ({way_it_ended(event, view)})"
        status_text = f"{name} (exit code {code})" if name and code is not None else name or _code(code)
        how = f"{_VERBS[end_kind(event, view)]}: {status_text} in {_process(event, view, code)}{_library(event)}"
    return ", ".join(filter(None, (how, moment(event, view))))


@derived
def end_kind(event: Event, view: View) -> str:
    """How the process ended: ``crash`` (a signal of its own fault), ``kill``, ``stop`` (another signal), ``code``.

    ``command`` for an exit code that says that the command was not found or not executable; empty if no line shows it.
    """
    name, code = _way(event, view)
    if not name:
        return "" if code is None else "command" if code in _NOT_RUN else "code"
    return "crash" if name in _FAULTS else "kill" if name == "SIGKILL" else "stop"


def _way(event: Event, view: View) -> tuple[str, int | None]:
    """(name of the signal, exit code) of the process; empty and None for what no line shows."""
    number, code = status(same_process(event, view))
    name = signal_name(number) if number is not None else ""
    if not name and code is None:
        spoken = event.fields.get("signal_name") or (event.text if event.event in _SPOKEN else "")
        name = _worded(str(spoken))
    return name, code


def _library(event: Event) -> str:
    """Where in the process the kernel saw the fault, ``, at libc.so.6``; empty if no line says it."""
    name = str(event.fields.get("library") or "").partition("[")[0]
    if not name:
        return ""
    return f", at {'libnccl' if event.event == 'segfault-in-nccl' else ''}{name}"


def _code(code: int | None) -> str:
    """``exit code 127 (the command was not found)``: with its meaning where shells and tools agree on it."""
    meaning = _CODES.get(code) if code is not None else None
    return f"exit code {code}" + (f" ({meaning})" if meaning else "")


def _worded(text: str) -> str:
    """The signal that a line names in words; empty if it names none."""
    low = text.lower()
    return next((name for words, name in _WORDED if words in low), "")


def _process(event: Event, view: View, code: int | None) -> str:
    """``rank 3 on n2 (PID 4711)``, as far as known."""
    pid, rank = _pid(event, view), rank_of(event, view)
    if rank is not None:
        name = f"rank {rank.rank}" + (f" on {rank.host}" if rank.host else "")
    elif event.event == RUN_ENDED:
        if code is not None and code > SHELL_STATUS:
            return "a process of the job"  # a shell or launcher repeats the status of a process that it started
        name = "the process that was started"
    else:
        name = ended(event, view)
        name = name[:1].lower() + name[1:]
    return name if pid is None or str(pid) in name.split() else f"{name} (PID {pid})"


def _pid(event: Event, view: View) -> int | None:
    return next((e.pid for e in same_process(event, view) if e.pid is not None), None)


def rank_of(event: Event, view: View) -> Rank | None:
    """The rank of the process: by its number, else by its process id on the same host."""
    pid, host = _pid(event, view), event.host or event.fields.get("on_host")
    for rank in view.job.ranks:
        is_same = rank.rank == event.rank if event.rank is not None else pid is not None and rank.pid == pid
        if is_same and (host is None or rank.host in {None, host}):
            return rank
    return None


def moment(event: Event, view: View) -> str:
    """How far the process, else the job, had come; empty if unknown."""
    reached = phase_at(event, view)
    return _MOMENTS[reached] if reached is not None else ""


def phase_at(event: Event, view: View) -> Phase | None:
    """How far the process, else the job, had come; None where that is not known."""
    rank = rank_of(event, view)
    reached: Phase | None = came_to(rank, view) if rank is not None else None
    of_job: Phase | None = phase(view.job, view)
    if of_job == "later" or reached is None:
        reached = of_job
    return reached


def signal_of(event: Event, view: View) -> str:
    """The name of the signal that ended the process; empty where no line shows one."""
    return _way(event, view)[0]


@derived_of(RUN_ENDED, RUN_STOPPED)
def is_unexplained_end(event: Event, view: View) -> bool:
    """Did the job of `ncdiag run` fail, without any line in it that reports a failure?

    Not if somebody stopped it with Ctrl-C.
    """
    number, code = status([event])
    failed = event.event == RUN_STOPPED or code or (number is not None and number != signal.SIGINT)
    if not failed or interrupts(view.job, view):
        return False
    return not open_failures(view.job, view) and first_crash_order(view.job, view) is None
