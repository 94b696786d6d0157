"""The truths of ibstat specimens, from the merged facts."""

from __future__ import annotations

from typing import Any

from ncdiag.facts.model import Hca, Job, Port

UNNAMED = "?"
STATES = {"down": "Down", "init": "Initializing", "armed": "Armed", "active": "Active"}


def truths(job: Job) -> dict[str, Any]:
    hcas = [hca for host in job.hosts for hca in host.hcas]
    named = [hca for hca in hcas if hca.name != UNNAMED]
    found: dict[str, Any] = {"ncas": len(named), "cas": [_ca(hca) for hca in named]}
    found["ports"] = [_port(port) for hca in hcas if hca.name == UNNAMED for port in hca.ports]
    all_ports = [port for hca in hcas for port in hca.ports]
    found["sm_lid_equals_own_lid"] = any(port.lid and port.lid == port.sm_lid for port in all_ports)
    found["finding"] = next((_finding(port) for port in all_ports if port.state != "active"), None)
    found["error_line"] = next((event.text for event in job.events if event.event == "ibstat-failed"), None)
    return found


def _finding(port: Port) -> str:
    if port.state == "down" and port.physical_state == "LinkUp":
        return "port logically Down while physically up"
    return f"port {port.number} is {port.state}"


def _ca(hca: Hca) -> dict[str, Any]:
    ports = [_port(port) for port in hca.ports]
    return {"name": hca.name, "ca_type": hca.board, "fw": hca.firmware, "ports": ports}


def _port(port: Port) -> dict[str, Any]:
    return {
        "port": port.number,
        "state": STATES.get(port.state or ""),
        "physical": port.physical_state,
        "rate": port.rate_gbps,
        "base_lid": port.lid,
        "link_layer": port.link_layer,
    }
