"""The truths of HCCL rank tables, from the merged facts."""

from __future__ import annotations

from typing import Any

from ncdiag.facts.model import Job


def truths(job: Job) -> dict[str, Any]:
    if not job.rank_tables:
        return {}
    table = job.rank_tables[0]
    return {
        "version": table.version,
        "status": table.status,
        "valid_json": table.valid_json,
        "servers_declared": table.server_count,
        "servers": table.servers,
        "ranks": len(table.devices),
        "rank_ids": [int(device.rank_id) for device in table.devices if device.rank_id is not None],
        "device_ips": [device.device_ip for device in table.devices],
        "problems": list(table.problems),
    }
