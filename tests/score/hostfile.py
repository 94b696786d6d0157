"""Truths of hostfile specimens from the merged facts."""

from __future__ import annotations

from typing import Any

from ncdiag.facts.model import Job


def truths(job: Job) -> dict[str, Any]:
    """How many hosts, which is first, how many slots there are."""
    hosts = [host for launch in job.launches if launch.program == "hostfile" for host in launch.hosts]
    slots = [host.slots for host in hosts]
    return {
        "nhosts": len(hosts), "first": hosts[0].name if hosts else None, "hosts": [host.name for host in hosts],
        "slots": {host.name: host.slots for host in hosts if host.slots is not None},
        "total_slots": None if None in slots else sum(s for s in slots if s is not None),
    }  # fmt: skip
