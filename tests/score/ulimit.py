"""Truths of ulimit specimens from the merged facts."""

from __future__ import annotations

from typing import Any

from ncdiag.facts.model import Job

_MARKS = (
    ("locked memory(", "dash"), ("lockedmem(", "mksh"), ("Max ", "/proc/PID/limits"), ("MEMLOCK", "prlimit"),
    ("memorylocked", "csh"), ("Maximum ", "fish"), ("-l: ", "zsh"),
)  # fmt: skip
"""How the line of locked memory begins in the layouts that are not bash's."""


def truths(job: Job) -> dict[str, Any]:
    """Locked memory in bytes and KiB, the number of files and processes; the layout as the evidence shows it."""
    limits = {limit.name: limit for host in job.hosts for limit in host.limits}
    memlock, files, processes = limits.get("memlock"), limits.get("nofile"), limits.get("nproc")
    soft = memlock.soft if memlock else None
    line = memlock.provenance[""].text.lstrip() if memlock else ""
    return {
        "memlock_kb": soft // 1024 if soft is not None else None,
        "memlock_soft_bytes": soft,
        "memlock_unlimited": memlock.unlimited if memlock else None,
        "nofile": files.soft if files else None,
        "nproc": processes.soft if processes else None,
        "format": next((name for mark, name in _MARKS if line.startswith(mark)), "bash") if memlock else None,
    }
