"""The truths of flight recorder dumps, from the merged facts."""

from __future__ import annotations

from typing import Any

from ncdiag.facts.model import Job


def truths(job: Job) -> dict[str, Any]:
    if not job.flight_records:
        return {}
    record = job.flight_records[0]
    group = record.groups[0] if record.groups else None
    stuck = [entry.sequence for entry in record.entries if entry.state != "completed"]
    return {
        "version": record.version,
        "nentries": len(record.entries),
        "pgs": [group.name for group in record.groups],
        "ranks": list(group.ranks or ()) if group else None,
        "last_enqueued": group.last_enqueued if group else None,
        "last_completed": group.last_completed if group else None,
        "entries": [
            {"collective_seq_id": entry.sequence, "op": entry.operation, "state": entry.state}
            for entry in record.entries
        ],
        "last_state": record.entries[-1].state if record.entries else None,
        "stuck_seq": stuck[0] if stuck else None,
    }
