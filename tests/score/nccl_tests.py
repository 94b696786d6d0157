"""The truths of nccl-tests outputs, from the merged facts."""

from __future__ import annotations

from typing import Any

from ncdiag.facts.model import Benchmark, BenchmarkRow, Job

VERDICTS = {True: "OK", False: "FAILED", None: None}


def truths(job: Job) -> dict[str, Any]:
    if not job.benchmarks:
        return {}
    run = job.benchmarks[0]
    rows = run.rows
    return {
        "rows": len(rows),
        "rows_numeric": len(rows),
        "placeholder": run.unreadable_rows > 0,
        "sizes": [row.size for row in rows],
        "datatype": rows[0].datatype if rows else None,
        "avg_bus_bw": run.average_busbw,
        "avg_bus_bw_status": VERDICTS[run.average_ok],
        "out_of_bounds": run.out_of_bounds,
        "out_of_bounds_status": VERDICTS[run.out_of_bounds_ok],
        "last_row": _row(run, rows[-1]) if rows else None,
        "max_oop_busbw": max((row.busbw for row in rows if row.busbw is not None), default=None),
        "op": (run.program or "").removesuffix("_perf") or None,
        "nccl_version": _version(job),
        "nranks": run.nranks,
        "ngpus_per_proc": run.gpus_per_process,
        "validation": run.validation,
        "columns": "old(error)" if "error" in (run.columns or ()) else "new(#wrong)",
        "extra_column": next((name for name in run.columns or () if name == "#iters"), None),
    }


def _version(job: Job) -> str | None:
    """As the head of the test tells it, else as a line of NCCL between the rows does."""
    held = [run.nccl_version for run in job.benchmarks] + [r.nccl_version for r in job.ranks]
    return next((v.text for v in [*held, *(h.nccl_version for h in job.hosts)] if v is not None and v.text), None)


def _row(run: Benchmark, row: BenchmarkRow) -> dict[str, Any]:
    """The truths tell times and iterations only of tables that have the column #iters."""
    found: dict[str, Any] = {
        "size": row.size,
        "oop_algbw": row.algbw, "oop_busbw": row.busbw, "oop_err": _errors(row.wrong, row.error),
        "ip_algbw": row.in_place_algbw, "ip_busbw": row.in_place_busbw,
        "ip_err": _errors(row.in_place_wrong, row.in_place_error),
    }  # fmt: skip
    if "#iters" in (run.columns or ()):
        found |= {"oop_time": row.time_us, "ip_time": row.in_place_time_us, "iters": row.iterations}
    return found


def _errors(wrong: int | None, error: float | None) -> str:
    return str(wrong) if wrong is not None else str(error) if error is not None else "N/A"
