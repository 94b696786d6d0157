"""The truths of ibdev2netdev specimens, from the merged facts."""

from __future__ import annotations

from typing import Any

from ncdiag.facts.model import Job

WORDS = {True: "Up", False: "Down", None: None}


def truths(job: Job) -> dict[str, Any]:
    rows: dict[str, list[str | None]] = {}
    for host in job.hosts:
        running = {interface.name: interface.running for interface in host.interfaces}
        for hca in host.hcas:
            for port in hca.ports:
                rows[hca.name] = [port.netdev, WORDS[running.get(port.netdev or "")]]
    return {"rows": rows}
