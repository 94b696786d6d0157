"""The truths of HCCL rank tables, from the merged facts."""

from __future__ import annotations

import re
from typing import Any

from ncdiag.facts.model import Job, RankTable

_PLACEHOLDER = re.compile(r"[<>${}*]|\.\.\.|(?i:(?:^|\.)x{1,3}(?:\.|$))")
"""What stands for a value in a table that somebody has still to fill in."""


def truths(job: Job) -> dict[str, Any]:
    """What the table declares and lists, in which layout, and whether it is a template that was not filled in."""
    if not job.rank_tables:
        return {}
    table = job.rank_tables[0]
    return {
        "version": table.version,
        "status": table.status,
        "valid_json": table.valid_json,
        "layout": table.layout,
        "groups": table.groups,
        "servers_declared": table.server_count,
        "servers": table.servers,
        "ranks": len(table.devices),
        "rank_ids": [int(rank) for device in table.devices if (rank := device.rank_id or "").isdigit()],
        "device_ips": [device.device_ip for device in table.devices if device.device_ip is not None],
        "placeholder": any(_PLACEHOLDER.search(text) for text in _texts(table)),
        "problems": list(table.problems),
    }


def _texts(table: RankTable) -> list[str]:
    values = [
        text for d in table.devices for text in (d.device_id, d.device_ip, d.rank_id, d.server_id) if text is not None
    ]
    return [*values, table.status or "", table.version or ""]
