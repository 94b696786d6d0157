"""The truths of ibv_devinfo specimens, from the merged facts."""

from __future__ import annotations

from typing import Any

from ncdiag.facts.model import Gid, Hca, Job, Port
from ncdiag.facts.view import View

UNNAMED = "?"
PHYSICAL = {"LinkUp": "LINK_UP", "Polling": "POLLING", "Disabled": "DISABLED"}
VERSIONS = {"RoCE v1": "v1", "RoCE v2": "v2"}


def truths(job: Job) -> dict[str, Any]:
    view = View(job)
    return {"devices": [_device(hca, view) for host in job.hosts for hca in host.hcas]}


def _device(hca: Hca, view: View) -> dict[str, Any]:
    return {
        "hca": None if hca.name == UNNAMED else hca.name,
        "fw": hca.firmware,
        "part": hca.part_id,
        "board": hca.board_id,
        "vendor": hca.vendor_id,
        "efa": view.get(hca, "is_efa"),
        "ports": [_port(port) for port in hca.ports],
    }


def _port(port: Port) -> dict[str, Any]:
    return {
        "port": port.number,
        "state": f"PORT_{(port.state or '').upper()}",
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
