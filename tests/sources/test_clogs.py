"""Logs of calls (clog) of several ranks: who did not come, who called something else, and when nothing is wrong."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from ncdiag.diagnose import diagnose
from ncdiag.text.sources.files import TextSource, open_sources
from ncdiag.text.sources.model import Text

LEAK = "WARN|comm=world|leaked work_id=50|corr_id=1|pending_events=E\n"


def log(rank: int, calls: int = 50, *, ended: int = 50, count: int = 1024, op: str = "all_reduce") -> str:
    """The log of a rank of four that enqueued so many calls, of which so many ended."""
    lines = [
        "V|1|base_timestamp=1790000000.000", f"new_comm|comm=world|rank={rank}|world_size=4",
        f"C1|sig|{op}|in_count={count}|out_count={count}|dtype=f32|red_op=sum|async_op=f|comm=world",
    ]  # fmt: skip
    for number in range(1, calls + 1):
        events = (f"Q|work_id={number}", "S", "E")[: 3 if number <= ended else 2]
        lines += [f"C1|{event}|+{number}.{at}00" for at, event in enumerate(events)]
    return "\n".join(lines) + "\n"


LATE = [log(0, ended=49), log(1, ended=49), log(2, 49, ended=49), log(3, ended=49)]


def titles(folder: Path, logs: list[str], *, packed: bool = False) -> str:
    """The titles of what is found in the files of these ranks."""
    for rank, text in enumerate(logs):
        name, data = f"rank{rank}.log", text.encode()
        (folder / (f"{name}.gz" if packed else name)).write_bytes(gzip.compress(data) if packed else data)
    return said([source for source in open_sources([str(folder)]) if isinstance(source, Text)])


def said(sources: list[Text]) -> str:
    report = diagnose(sources)
    return " ".join(one.title for one in (*report.findings,))


@pytest.mark.parametrize("packed", [False, True])
def test_the_rank_that_did_not_enter_is_named(tmp_path: Path, *, packed: bool) -> None:
    found = titles(tmp_path, [*(text + LEAK for text in LATE[:2]), LATE[2], LATE[3] + LEAK], packed=packed)
    assert "rank 2 did not enter all_reduce number 50" in found


def test_a_person_who_reports_a_hang_makes_open_calls_waits(tmp_path: Path) -> None:
    assert "rank 2 did not enter" in titles(tmp_path, [LATE[0] + "The job hangs.\n", *LATE[1:]])


def test_logs_in_a_pasted_text() -> None:
    pasted = "The job hangs.\n\n" + "".join(LATE)
    assert "rank 2 did not enter" in said([TextSource.of_bytes("paste", pasted.encode())])


@pytest.mark.parametrize("other", [log(3, count=2048), log(3, op="reduce_scatter_single")])
def test_ranks_that_call_something_else_are_named(tmp_path: Path, other: str) -> None:
    assert "rank 3 called" in titles(tmp_path, [log(0), log(1), log(2), other])


@pytest.mark.parametrize("logs", [[log(rank) for rank in range(4)], LATE])
def test_logs_of_a_job_that_ended_or_goes_on_show_no_fault(tmp_path: Path, logs: list[str]) -> None:
    assert titles(tmp_path, logs) == ""
