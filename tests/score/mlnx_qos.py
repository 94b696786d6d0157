"""The truths of mlnx_qos specimens, from the merged facts."""

from __future__ import annotations

from typing import Any

from ncdiag.facts.model import Job

UNNAMED = "?"
_ECN_BITS = 2
"""Below the DSCP in a traffic class."""


def truths(job: Job) -> dict[str, Any]:
    ports = [port for host in job.hosts for hca in host.hcas for port in hca.ports]
    tclass = next((port.traffic_class for port in ports if port.traffic_class is not None), None)
    classes = {"global_tclass": tclass, "dscp": None if tclass is None else tclass >> _ECN_BITS}
    interface = next((i for host in job.hosts for i in host.interfaces if i.trust or i.pfc is not None or i.dcbx), None)
    if interface is None:
        return classes
    pfc = interface.pfc
    return classes | {
        "interface": None if interface.name == UNNAMED else interface.name,
        "dcbx": interface.dcbx,
        "trust": interface.trust,
        "dscp2prio_default": interface.dscp_default,
        "pfc_enabled": None if pfc is None else [int(priority in pfc) for priority in range(8)],
        "lossless_priorities": None if pfc is None else list(pfc),
        "device": interface.hca,
        "netdev": None if interface.name == UNNAMED else interface.name,
    }
