"""The truths of RAS reports and notifications, from the merged facts."""

from __future__ import annotations

from typing import Any

from ncdiag.facts.model import Event, Job, RasGroup, RasProblem, RasProcess, RasReport, RasShare


def truths(job: Job) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for event in job.events:
        if "notification" in event.fields and not found:
            found = _notification(event)
    if not job.ras_reports:
        return found
    report = job.ras_reports[0]
    dead = [_process(p) for p in report.processes if p.state == "dead"]
    missing = [_process(p) for p in report.processes if p.state == "missing"]
    mismatches = [p for p in report.problems if p.kind == "MISMATCH"]
    return found | {
        "format": report.format,
        "nccl_version": str(report.nccl_version) if report.nccl_version else None,
        "nodes": report.nnodes,
        "processes": report.nprocesses,
        "gpus": report.ngpus,
        "outlier_nodes": list(report.outlier_nodes),
        "communicators": len(report.communicators),
        "size": max((comm.size or 0 for comm in report.communicators), default=None),
        "dead_processes": dead,
        "missing_process": missing[0] if missing else None,
        "missing_ranks": _missing(report),
        "timeouts": report.timeouts,
        "groups": [_group(group) for group in report.groups],
        "warnings": [_warning(problem) for problem in mismatches],
        "stragglers": next((_stragglers(problem) for problem in mismatches if len(problem.shares) > 1), None),
    }


def _notification(event: Event) -> dict[str, Any]:
    fields = event.fields
    devices = str(fields.get("peer_gpus") or "")
    return {
        "format": "json" if "group" in fields else "text",
        "event": fields["notification"],
        "group": fields.get("group"),
        "host": fields.get("peer_host"),
        "pid": fields.get("peer_pid"),
        "cuda_devs": [int(device) for device in devices.split(",") if device],
    }


def _process(process: RasProcess) -> dict[str, Any]:
    return {"pid": process.pid, "node": process.node, "gpu": process.gpus[0]}


def _missing(report: RasReport) -> list[int]:
    shares = [share for problem in report.problems if problem.what == "missing" for share in problem.shares]
    return [rank.rank for share in shares for rank in share.ranks]


def _group(group: RasGroup) -> dict[str, Any]:
    return {
        "group": group.number,
        "comms": group.comms,
        "nodes_per_comm": group.nodes_per_comm,
        "ranks_per_comm": group.ranks_per_comm,
        "status": group.status,
        "errors": list(group.errors),
    }


def _warning(problem: RasProblem) -> dict[str, Any]:
    listed = [rank.rank for share in problem.shares for rank in share.ranks]
    found: dict[str, Any] = {
        "comm": problem.label,
        "hash": problem.hash,
        "collective": problem.collective,
        "kind": problem.kind,
        "listed_ranks": listed,
    }
    if problem.what == "operations":
        largest, *others = sorted(problem.shares, key=lambda share: -share.count)
        found |= {"majority": _counts(largest), "minority": _counts(others[0])}
    return found


def _counts(share: RasShare) -> list[int | None]:
    return [share.count, share.operation]


def _stragglers(problem: RasProblem) -> str | None:
    last, *ahead = sorted(problem.shares, key=lambda share: share.operation or 0)
    if problem.what == "operations" and not last.ranks:
        listed = ", ".join(str(rank.rank) for share in ahead for rank in share.ranks)
        return f"the {last.count} ranks at {last.operation} are behind; the listed ranks {listed} are ahead"
    if not problem.behind:
        return None
    late = [share for share in problem.shares if {rank.rank for rank in share.ranks} & set(problem.behind or ())]
    return f"ranks {','.join(map(str, problem.behind or ()))} at {late[0].operation}"
