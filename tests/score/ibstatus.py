"""The truths of ibstatus specimens, from the merged facts."""

from __future__ import annotations

from typing import Any

from ncdiag.facts.model import Hca, Job, Port


def truths(job: Job) -> dict[str, Any]:
    return {"ports": [_port(hca, port) for host in job.hosts for hca in host.hcas for port in hca.ports]}


def _port(hca: Hca, port: Port) -> dict[str, Any]:
    return {
        "device": hca.name,
        "port": port.number,
        "state": (port.state or "").upper(),
        "physical": port.physical_state,
        "rate_gbps": port.rate_gbps,
        "rate_label": port.rate_text,
        "link_layer": port.link_layer,
        "default_gid": next((gid.address for gid in port.gids if gid.index == 0), None),
    }
