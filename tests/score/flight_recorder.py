"""The truths of flight recorder dumps and of what PyTorch's analysis says of them, from the merged facts."""

from __future__ import annotations

from typing import Any

from ncdiag.facts.model import FlightRecord, Job


def truths(job: Job) -> dict[str, Any]:
    """Of the first dump; with several, or with an analysis, also which rank did not come to which collective."""
    if not job.flight_records:
        return _analysed(job)
    record = job.flight_records[0]
    group = record.groups[0] if record.groups else None
    stuck = [entry.sequence for entry in record.entries if entry.state != "completed"]
    found = {
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
    return found | (_compared(job.flight_records) if len(job.flight_records) > 1 else {"missing_rank": None})


def _compared(records: tuple[FlightRecord, ...]) -> dict[str, Any]:
    """Several ranks' dumps: the one that never recorded the collective at which the others stand."""
    last = {r.rank: max((e.sequence or 0 for e in r.entries), default=0) for r in records}
    furthest = max(last.values())
    behind = [rank for rank, sequence in last.items() if sequence < furthest]
    return {"ranks": len(records), "missing_rank": behind[0] if behind else None}


def _analysed(job: Job) -> dict[str, Any]:
    for event in job.events:
        if event.event == "torch-ranks-missing":
            late = str(event.fields.get("late_ranks") or "").split(",")[0].strip()
            return {
                "ranks": event.fields.get("world_size"),
                "missing_rank": int(late) if late.isdigit() else None,
                "stuck_seq": event.fields.get("sequence"),
            }
    return {}
