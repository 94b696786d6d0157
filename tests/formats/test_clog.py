"""Logs of torchcomms' ClogHook: which calls are open, how they are numbered, and what is kept of a long log."""

from __future__ import annotations

from typing import Any

import pytest

from ncdiag.formats.clog import Clog

HEAD = ["V|1|base_timestamp=1790000000.125", "new_comm|comm=world|rank=2|world_size=4"]
SUM = "C1|sig|all_reduce|in_count=64|out_count=64|dtype=f32|red_op=sum|async_op=f|comm=world"


def dump(*lines: str) -> dict[str, Any]:
    log = Clog()
    assert [line for line in (*HEAD, *lines) if not log.read(line)] == []
    return log.dump()


def states(*lines: str) -> list[tuple[int, str | None]]:
    return [(entry["collective_seq_id"], entry.get("state")) for entry in dump(*lines)["entries"]]


def test_calls_of_one_signature_are_numbered_and_end_in_their_order() -> None:
    events = ["C1|Q|work_id=1|+0.001", "C1|Q|work_id=2|+0.002", "C1|S|+0.003", "C1|S|+0.004", "C1|E|+0.005"]
    assert states(SUM, *events) == [(1, "completed"), (2, "started")]


def test_without_events_of_the_gpu_no_state_is_known() -> None:
    assert states(SUM, "C1|Q|work_id=1|+0.001", "C1|W|+0.002") == [(1, None)]


def test_the_replay_of_a_graph_is_no_call() -> None:
    captured = ["G7|C1|Q|work_id=1|+0.1", "G7|C1|S|+0.1", "G7|C1|E|+0.2"]
    assert states(SUM, *captured, "G7|R1|C1|S|+1.0") == [(1, "completed")]


def test_members_are_those_of_a_split_or_all_ranks() -> None:
    pair = "C2|sig|broadcast|in_count=2|out_count=2|dtype=i64|root=0|async_op=f|comm=pair"
    found = dump("split|parent=world|child=pair|ranks=2,3", SUM, pair, "C2|Q|work_id=1|+0.1")
    assert {name: group["ranks"] for name, group in found["pg_config"].items()} == {
        "pair": "[2, 3]", "world": "[0, 1, 2, 3]",
    }  # fmt: skip
    assert (found["rank"], found["entries"][0]["input_dtypes"]) == (2, ["i64", "root 0"])


def test_a_leak_says_that_the_process_ended() -> None:
    assert dump(SUM)["live"] is True
    assert dump(SUM, "WARN|comm=world|leaked work_id=3|corr_id=1|pending_events=E")["live"] is False
    assert dump(SUM, "WARN|post-hook missing work_id for op_id 4")["live"] is True


def test_of_a_long_log_the_latest_calls_and_open_ones_are_kept() -> None:
    late = "C2|sig|barrier|async_op=t|comm=world"
    log = Clog()
    for line in (*HEAD, SUM, late, "C2|Q|work_id=1|+0.1", "C2|S|+0.1"):
        log.read(line)
    for number in range(5000):
        for event in (f"Q|work_id={number + 2}", "S", "E"):
            log.read(f"C1|{event}|+{number}.0")
    entries = log.dump()["entries"]
    assert len(entries) == 2001
    assert (entries[0]["profiling_name"], entries[0]["state"], entries[-1]["collective_seq_id"]) == (
        "barrier", "started", 5001,
    )  # fmt: skip


@pytest.mark.parametrize(
    "line", ["C1|Q|work_id=1", "C1|S|", "V|1|base", "new_comm|comm=a|rank=x|world_size=4", "the job hangs", "C1|Z|+0.1"]
)
def test_other_lines_are_not_read(line: str) -> None:
    assert not Clog().read(line)


@pytest.mark.parametrize("line", ["C9|Q|work_id=1|+0.1", "C9|E|+0.1", "split|parent=a|child=b|ranks=", "C1|E|+0.3"])
def test_events_without_their_signature_or_call_say_nothing(line: str) -> None:
    assert dump(SUM, line)["entries"] == []
