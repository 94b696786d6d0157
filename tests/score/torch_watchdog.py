"""The truths of PyTorch watchdog logs, from the merged facts."""

from __future__ import annotations

from typing import Any

from ncdiag.facts.model import Event, Job, Timeout


def truths(job: Job) -> dict[str, Any]:
    timeouts = [timeout for timeout in job.timeouts if timeout.operation is not None]
    last: dict[int | None, int] = {}
    for timeout in timeouts:
        last[timeout.rank] = max(last.get(timeout.rank, -1), timeout.sequence or -1)
    return {
        "events": [_timeout(timeout) for timeout in timeouts],
        "exceptions": [_exception(event) for event in job.events if event.event == "torch-work-failed"],
        "seq_mismatch_between_ranks": len(set(last.values())) > 1,
    }


def _timeout(timeout: Timeout) -> dict[str, Any]:
    inner = timeout.group_rank
    fields = {
        "rank": timeout.rank if inner is None else inner, "global_rank": None if inner is None else timeout.rank,
        "seq": timeout.sequence, "op": timeout.operation, "numel_in": timeout.numel_in, "numel_out": timeout.numel_out,
        "timeout_ms": timeout.timeout_ms, "ran_ms": timeout.ran_ms,
    }  # fmt: skip
    return {name: value for name, value in fields.items() if value is not None}


def _exception(event: Event) -> dict[str, Any]:
    group, _, description = str(event.fields.get("process_group") or "").partition("(")
    return {
        "rank": event.rank, "pg": group.strip() or None, "pg_desc": description.rstrip(")") or None,
        "work": event.fields.get("sequence"),
        "last_enqueued": event.fields.get("last_enqueued"), "last_completed": event.fields.get("last_completed"),
    }  # fmt: skip
