"""Whom a job waits for, by flight recorder dumps as PyTorch writes them, of groups in groups and of pipelines."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

import ncdiag

Call = tuple[str, int, str, str]
"""Process group, number, operation and state."""
GROUPS = {"0": [0, 1, 2, 3], "5": [0, 1], "6": [2, 3]}
"""All ranks, and pairs within which a pipeline sends."""


def entry(place: int, call: Call, size: int = 1024) -> dict[str, Any]:
    group, number, operation, state = call
    is_p2p = operation.startswith(("send", "recv"))
    return {
        "record_id": place, "pg_id": 0 if group == "0" else 1, "process_group": (group, f"group {group}"),
        "collective_seq_id": 3 if is_p2p else number, "p2p_seq_id": number if is_p2p else 0, "op_id": place,
        "profiling_name": f"nccl:{operation}", "input_sizes": [[size]], "input_dtypes": ["Float"], "state": state,
        "is_p2p": is_p2p,
    }  # fmt: skip


def dump(rank: int, entries: list[dict[str, Any]], completed: int = -1) -> bytes:
    """Version 2.9: groups by name, and their state by the number that the rank gives them."""
    config = {
        name: {"name": name, "desc": f"group {name}", "ranks": str(ranks)}
        for name, ranks in GROUPS.items() if rank in ranks
    }  # fmt: skip
    last = max((e["collective_seq_id"] for e in entries if e["pg_id"] == 0 and not e["is_p2p"]), default=completed)
    status = {
        0: {"last_enqueued_collective": last, "last_started_collective": -1, "last_completed_collective": completed}
    }
    content = {
        "version": "2.9", "pg_config": config, "nccl_version": "2.27.3",
        "pg_status": {str(number): state for number, state in status.items()}, "entries": entries,
    }  # fmt: skip
    return pickle.dumps(content, protocol=2)


def judged(folder: Path, calls: dict[int, list[Call]], completed: int = -1) -> dict[str, str]:
    """The titles of what is said, by rule."""
    for rank, found in calls.items():
        entries = [entry(place, call) for place, call in enumerate(found)]
        (folder / f"nccl_trace_rank_{rank}").write_bytes(dump(rank, entries, completed))
    return {finding.name: finding.title for finding in ncdiag.parse([folder]).findings}


WAIT = ("0", 8, "all_reduce", "scheduled")


def test_the_rank_without_an_entry_is_late(tmp_path: Path) -> None:
    found = judged(tmp_path, {0: [WAIT], 1: [WAIT], 2: [], 3: [WAIT]}, completed=7)
    assert found["collective-straggler-late"].startswith(
        "Not all ranks arrived: rank 2 did not enter all_reduce number 8"
    )
    assert "ranks 0-1,3 waited" in found["collective-straggler-late"]
    assert "collective-desync" not in found


def test_who_waits_for_another_is_not_late(tmp_path: Path) -> None:
    """Rank 1 does not come because it waits for rank 0 in their own group."""
    small = ("5", 20, "broadcast", "scheduled")
    found = judged(tmp_path, {0: [], 1: [small], 2: [WAIT], 3: [WAIT]}, completed=7)
    assert "rank 0 did not enter all_reduce number 8" in found["collective-straggler-late"]
    assert "ranks 1-3 waited" in found["collective-straggler-late"]


def test_a_pipeline_that_goes_on_is_well(tmp_path: Path) -> None:
    """Sends and receives share a number of the collectives, differ, and are numbered by each rank alone."""
    done = "completed"
    calls: dict[int, list[Call]] = {
        0: [("5", 4, "send 0->1", done), ("5", 5, "recv 0<-1", done)],
        1: [("5", 9, "recv 1<-0", done), ("5", 10, "send 1->0", done)],
    }
    assert not {"collective-desync", "collective-straggler-late", "collective-stuck"} & judged(tmp_path, calls).keys()


def test_a_pipeline_waits_for_who_does_not_receive(tmp_path: Path) -> None:
    """The peer is numbered within its group: 1 of group 6 is rank 3."""
    calls: dict[int, list[Call]] = {2: [("6", 4, "send 0->1", "scheduled")], 3: []}
    assert "rank 3 did not enter send 0->1 number 4" in judged(tmp_path, calls)["collective-straggler-late"]


def test_a_receive_that_is_met_waits_for_nobody(tmp_path: Path) -> None:
    calls: dict[int, list[Call]] = {
        2: [("6", 4, "send 0->1", "scheduled")],
        3: [("6", 7, "recv 1<-0", "scheduled")],
    }
    assert "collective-straggler-late" not in judged(tmp_path, calls)


def test_a_call_that_others_completed_is_stuck(tmp_path: Path) -> None:
    after = ("0", 9, "all_reduce", "scheduled")
    done = ("0", 8, "all_reduce", "completed")
    found = judged(tmp_path, {0: [done, after], 1: [WAIT, after], 2: [done, after], 3: [done, after]})
    assert found["collective-stuck"] == "rank 1 did not get through all_reduce number 8, which ranks 0,2-3 completed"
    assert "collective-straggler-late" not in found


def test_ranks_that_wait_for_each_other_disagree(tmp_path: Path) -> None:
    """Both call the same collectives in another order."""
    calls: dict[int, list[Call]] = {0: [("5", 2, "all_reduce", "started")], 1: [("0", 4, "broadcast", "started")]}
    title = judged(tmp_path, calls)["collective-desync"]
    assert (
        "rank 0 waits in all_reduce number 2 of process group 5 (group 5), rank 1 waits in broadcast number 4" in title
    )


@pytest.mark.parametrize(("operation", "differs"), [("all_reduce", True), ("all_to_all", False), ("gather", False)])
def test_sizes_differ_only_where_they_must_be_equal(tmp_path: Path, operation: str, differs: bool) -> None:
    for rank, size in ((0, 1024), (1, 512)):
        call = entry(0, ("0", 8, operation, "scheduled"), size)
        (tmp_path / f"nccl_trace_rank_{rank}").write_bytes(dump(rank, [call]))
    found = {finding.name: finding.title for finding in ncdiag.parse([tmp_path]).findings}
    assert ("collective-desync" in found) is differs
    if differs:
        assert (
            "rank 0 called all_reduce of [[1024]] Float, rank 1 called all_reduce of [[512]]"
            in found["collective-desync"]
        )


@pytest.mark.parametrize("still_there", [True, False])
def test_the_number_of_a_send_is_not_that_of_a_collective(tmp_path: Path, *, still_there: bool) -> None:
    """Rank 2 sent twelve times, and did not enter the collective: its last call has the greater number.

    A dump of what is active holds no send that is over; the collectives tell that there were some.
    """
    for rank in range(4):
        waits = {**entry(9, WAIT), "p2p_seq_id": 12}
        over = [entry(place, ("0", place + 1, "send 2->3", "completed")) for place in range(12) if still_there]
        content = pickle.loads(dump(rank, [waits] if rank != 2 else over, completed=7))  # noqa: S301
        content["pg_status"]["0"]["last_enqueued_collective"] = 12 if rank == 2 else 8
        (tmp_path / f"nccl_trace_rank_{rank}").write_bytes(pickle.dumps(content, protocol=2))
    found = {finding.name: finding.title for finding in ncdiag.parse([tmp_path]).findings}
    assert "rank 2 did not enter all_reduce number 8" in found["collective-straggler-late"]
