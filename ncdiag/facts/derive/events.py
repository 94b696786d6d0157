"""Derived facts about what happened: who crashed first, what an event says about its process or host."""

from __future__ import annotations

import signal

from ncdiag.facts.derive.clocks import shared_time
from ncdiag.facts.model import Event, Host, Job, RankTable
from ncdiag.facts.view import View, derived, derived_of

CRASHES = {
    "worker-crashed", "worker-killed", "worker-bus-error", "worker-failed", "mpi-rank-signal", "mpi-signal",
    "segfault", "segfault-in-nccl", "oom-kill", "container-oom-killed", "host-memory-exhausted",
    "cuda-illegal-access", "cuda-launch-failure", "cuda-memory-error", "cuda-nvlink-error",
    "torch-dataloader-killed", "torch-dataloader-bus-error", "node-failed", "mpi-rank-ended",
}  # fmt: skip
"""Events in which a process of the job ended or was ended."""

_WATCHDOG = frozenset({"torch-watchdog-timeout", "torch-heartbeat-stuck", "torch-tear-down"})
_ECHOES = frozenset({
    "socket-closed-by-peer", "torch-result-remote-error", "torch-store-peer-gone", "ib-completion-error",
})  # fmt: skip
"""What ranks print when another one is gone."""
_OWN_FAULTS = frozenset({
    "AssertionError", "AttributeError", "FileNotFoundError", "ImportError", "IndexError", "IsADirectoryError",
    "KeyError",
    "MemoryError", "ModuleNotFoundError", "NameError", "NotImplementedError", "PermissionError", "RecursionError",
    "TypeError", "UnboundLocalError", "UnicodeDecodeError", "ValueError", "ZeroDivisionError",
})  # fmt: skip
"""Python's own exceptions that no library raises for a peer or a device."""
_ABORTED = frozenset({-signal.SIGABRT, 128 + signal.SIGABRT})
"""Exit codes of a process that SIGABRT ended, as Python and as a shell tell them."""
EXCEPTION = "python-exception"
_LOSS = "socket-closed-by-peer"


@derived
def first_crash_order(job: Job, view: View) -> int | None:
    """The place in the input of the first event in which a process ended.

    By time where all such lines have one, with the clocks of the hosts set right where that is possible.
    """
    given_up = any(e.event in _WATCHDOG for e in job.events)
    crashes = [e for e in job.events if e.event in CRASHES and not (given_up and _is_abort(e))]
    echo = min((e.order for e in job.events if e.event in _ECHOES), default=0)
    crashes += [e for e in job.events if e.order < echo and _is_own_fault(e)]
    if not crashes:
        return None
    if all(e.time is not None for e in crashes):
        return min(crashes, key=lambda e: (shared_time(e, view), e.order)).order
    return min(e.order for e in crashes)


def _is_own_fault(event: Event) -> bool:
    """Did a program end with a Python exception that its own lines raised?"""
    return event.event == EXCEPTION and event.fields.get("exception") in _OWN_FAULTS


def _is_abort(event: Event) -> bool:
    """Did a process end by SIGABRT, as those do that their watchdog takes down?"""
    fields = event.fields
    return fields.get("signal") == signal.SIGABRT or fields.get("exit_code") in _ABORTED or "Aborted" in event.text


@derived_of(*CRASHES, EXCEPTION)
def is_first_crash(event: Event, view: View) -> bool:
    """Did the first process of the job end here?"""
    first: int | None = view.get(view.job, "first_crash_order")
    return event.order == first


@derived
def first_loss_order(job: Job, view: View) -> int | None:
    """The place of the first closed connection, where closed connections are all that the job tells of its end."""
    if view.get(job, "first_crash_order") is not None or view.get(job, "has_failed"):
        return None
    return min((event.order for event in job.events if event.event == _LOSS), default=None)


@derived_of(*CRASHES, EXCEPTION, _LOSS)
def is_first_end(event: Event, view: View) -> bool:
    """Did the first process end here, or is this the first that others tell of its loss where nobody tells more?"""
    if event.event == _LOSS:
        return bool(event.order == view.get(view.job, "first_loss_order"))
    return bool(view.get(event, "is_first_crash"))


@derived
def who(event: Event, view: View) -> str:
    """``Rank 3 on n2``, as far as it is known."""
    name = f"Rank {event.rank}" if event.rank is not None else "A rank"
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


@derived
def nccl_text(host: Host, view: View) -> str:
    """The NCCL version of the host for people."""
    version = view.version(host)
    return str(version) if version else "(version unknown)"


@derived
def problem_text(table: RankTable, view: View) -> str:
    """What is wrong with the rank table, three problems at most."""
    return "; ".join(table.problems[:3])
