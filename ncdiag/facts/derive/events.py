"""Derived facts about what happened: who crashed first, what an event says about its process or host."""

from __future__ import annotations

from ncdiag.facts.model import Event, Host
from ncdiag.facts.view import View, derived

CRASHES = {
    "worker-crashed", "worker-killed", "worker-bus-error", "worker-failed", "mpi-rank-signal", "mpi-signal",
    "segfault", "segfault-in-nccl", "oom-kill", "container-oom-killed", "host-memory-exhausted",
    "cuda-illegal-access", "cuda-launch-failure", "cuda-memory-error", "cuda-nvlink-error",
    "torch-dataloader-killed", "torch-dataloader-bus-error", "node-failed", "mpi-rank-ended",
}  # fmt: skip
"""Events in which a process of the job ended or was ended."""


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
