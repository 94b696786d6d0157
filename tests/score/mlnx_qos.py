"""The truths of mlnx_qos specimens, from the merged facts."""

from __future__ import annotations

from typing import Any

from ncdiag.facts.model import Job

UNNAMED = "?"


def truths(job: Job) -> dict[str, Any]:
    interface = next((i for host in job.hosts for i in host.interfaces if i.trust or i.pfc is not None or i.dcbx), None)
    if interface is None:
        return {}
    pfc = interface.pfc
    return {
        "dcbx": interface.dcbx,
        "trust": interface.trust,
        "dscp2prio_default": interface.dscp_default,
        "pfc_enabled": None if pfc is None else [int(priority in pfc) for priority in range(8)],
        "lossless_priorities": None if pfc is None else list(pfc),
        "device": interface.hca,
        "netdev": None if interface.name == UNNAMED else interface.name,
    }
