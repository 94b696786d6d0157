"""The truths of ibv_devinfo specimens, from the merged facts."""

from __future__ import annotations

from typing import Any

from ncdiag.facts.model import Gid, Hca, Job, Port
from ncdiag.facts.view import View
from ncdiag.knowledge.cloud.efa import is_efa

UNNAMED = "?"
PHYSICAL = {
    "Sleep": "SLEEP", "Polling": "POLLING", "Disabled": "DISABLED", "LinkUp": "LINK_UP",
    "PortConfigurationTraining": "PORT_CONFIGURATION TRAINNING", "LinkErrorRecovery": "LINK_ERROR_RECOVERY",
    "PhyTest": "PHY TEST",
}  # fmt: skip
_EFA_WITH_READ = 0xEFA1
"""The second generation of EFA, and those after it, read remote memory."""
VERSIONS = {"RoCE v1": "v1", "RoCE v2": "v2"}


def truths(job: Job) -> dict[str, Any]:
    view = View(job)
    hcas = [hca for host in job.hosts for hca in host.hcas]
    first = hcas[0] if hcas else None
    return {
        "devices": [_device(hca, view) for hca in hcas],
        "device": first.name if first and first.name != UNNAMED else None,
        "gids": [_gid(gid) for hca in hcas for port in hca.ports for gid in port.gids],
        "rdma_read_supported": _reads(first, view) if first else None,
    }


def _reads(hca: Hca, view: View) -> bool | None:
    if is_efa(hca, view) and hca.part_id and hca.part_id.isdigit():
        return int(hca.part_id) >= _EFA_WITH_READ
    return hca.reads_per_qp > 0 if hca.reads_per_qp is not None else None


def _device(hca: Hca, view: View) -> dict[str, Any]:
    return {
        "hca": None if hca.name == UNNAMED else hca.name,
        "fw": hca.firmware,
        "part": hca.part_id,
        "nports": hca.nports,
        "board": hca.board_id,
        "vendor": hca.vendor_id,
        "efa": is_efa(hca, view),
        "ports": [_port(port) for port in hca.ports],
    }


def _port(port: Port) -> dict[str, Any]:
    return {
        "port": port.number,
        "state": f"PORT_{port.state.upper()}" if port.state else None,
        "active_mtu": port.active_mtu,
        "link_layer": port.link_layer,
        "lid": port.lid,
        "sm_lid": port.sm_lid,
        "active_width": port.active_width,
        "active_speed": port.active_speed,
        "phys_state": PHYSICAL.get(port.physical_state or ""),
        "gids": [_gid(gid) for gid in port.gids],
    }


def _gid(gid: Gid) -> dict[str, Any]:
    return {"index": gid.index, "ipv4": gid.ip, "version": VERSIONS.get(gid.type or "")}
