"""Truths of ulimit specimens from the merged facts."""

from __future__ import annotations

from typing import Any

from ncdiag.facts.model import Job


def truths(job: Job) -> dict[str, Any]:
    """The locked memory limit in KiB and the number of files; the layout as the evidence shows it."""
    limits = {limit.name: limit for limit in job.hosts[0].limits}
    memlock, files = limits.get("memlock"), limits.get("nofile")
    return {
        "memlock_kb": memlock.soft // 1024 if memlock and memlock.soft is not None else None,
        "memlock_unlimited": memlock.unlimited if memlock else None,
        "nofile": files.soft if files else None,
        "format": _layout(memlock.provenance[""].text) if memlock else None,
    }


def _layout(line: str) -> str:
    return (
        "dash"
        if line.startswith("locked memory(")
        else "proc"
        if line.startswith("Max ")
        else "zsh"
        if line[:1] == "-"
        else "bash"
    )
