"""Stacks of several processes, pasted or in files: who is elsewhere than the others, in few words."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

REDUCE = """\
    all_reduce (torch/distributed/distributed_c10d.py:2501)
    forward (blocks/mlp.py:{line})
    <module> (pretrain.py:40)
"""
LOAD = """\
    wait (threading.py:320)
    _try_get_data (torch/utils/data/dataloader.py:1131)
    __next__ (torch/utils/data/dataloader.py:630)
    <module> (pretrain.py:33)
"""
FETCH = """\
    fetch_sub_module (deepspeed/runtime/zero/partitioned_param_coordinator.py:310)
    generate (roll.py:{line})
    <module> (pretrain.py:40)
"""
INSIDE = "    all_gather_into_tensor (torch/distributed/distributed_c10d.py:2900)\n" + FETCH
AWAIT = """\
    wait_tensor (torch/distributed/_functional_collectives.py:130)
    <module> (pretrain.py:40)
"""
PIPES = (
    "_communicate (megatron/core/pipeline_parallel/p2p_communication.py:320)",
    "wait (deepspeed/runtime/pipe/p2p.py:140)", "_wait_batch_p2p (torch/distributed/pipelining/schedules.py:780)",
)  # fmt: skip
TUNE = """\
    benchmark_all_configs (torch/_inductor/runtime/triton_heuristics.py:800)
    run (torch/_inductor/runtime/triton_heuristics.py:980)
    <module> (pretrain.py:40)
"""


def dump(pid: int, frames: str, options: str = "") -> str:
    """The stack of one process, as py-spy prints it."""
    head = f"Process {pid}: /usr/bin/python3 pretrain.py{options}\nPython v3.11.9 (/usr/bin/python3.11)\n\n"
    return f'{head}Thread {pid} (idle): "MainThread"\n{frames.format(line=77)}'


def handler(frames: list[tuple[str, int, str]]) -> str:
    """The dump of a process by faulthandler."""
    lines = "".join(f'  File "{file}", line {line} in {function}\n' for file, line, function in frames)
    return f"Timeout (0:10:00)!\nThread 0x00007f1a2b3c4d80 (most recent call first):\n{lines}"


def answer(ncdiag: Run, *paths: Path) -> dict[str, Any]:
    """The first finding."""
    found: dict[str, Any] = json.loads(ncdiag("triage", "--format", "json", *paths).stdout)["findings"][0]
    return found


def test_a_thousand_ranks_fit_one_screen_and_the_late_one_leads(ncdiag: Run, tmp_path: Path) -> None:
    for rank in range(1024):
        place = LOAD if rank == 77 else REDUCE
        (tmp_path / f"rank{rank}.txt").write_text(dump(4000 + rank, place))
    assert answer(ncdiag, tmp_path)["title"] == (
        "Late, by the stacks: rank 77 is loading data (__next__, from pretrain.py:33); "
        "ranks 0-76,78-1023 wait in a collective (all_reduce, from blocks/mlp.py:77)"
    )
    assert len(ncdiag("triage", tmp_path).stdout.splitlines()) <= 24


@pytest.mark.parametrize("pipe", PIPES)
def test_a_stage_that_waits_for_the_one_before_it_is_not_late(ncdiag: Run, tmp_path: Path, pipe: str) -> None:
    stage = f"    {pipe}\n    <module> (pretrain.py:40)\n"
    (tmp_path / "stacks.txt").write_text("".join(dump(600 + n, LOAD if n == 0 else stage) for n in range(4)))
    title = answer(ncdiag, tmp_path / "stacks.txt")["title"]
    assert title.startswith("Late, by the stacks: process 600 is loading data")
    assert "wait in a collective" in title


WAITED = (
    "[rank{n}]:[E ProcessGroupNCCL.cpp:629] [Rank {n}] Watchdog caught collective operation timeout: "
    "WorkNCCL(SeqNum=3, OpType=BROADCAST, NumelIn=8, NumelOut=8, Timeout(ms)=600000) ran for 600022 milliseconds "
    "before timing out.\n"
)


@pytest.mark.parametrize(("head", "frames", "is_late"), [
    ("py-spy of rank 0:", LOAD, True), ("rank 1:", LOAD, False), ("rank 0:", REDUCE, False),
])  # fmt: skip
def test_one_stack_beside_ranks_that_gave_up(
    ncdiag: Run, tmp_path: Path, head: str, frames: str, is_late: bool
) -> None:
    waited = "".join(WAITED.format(n=n) for n in (1, 2))
    (tmp_path / "paste.txt").write_text(f"{waited}{head}\n{dump(600, frames)}")
    title = answer(ncdiag, tmp_path / "paste.txt")["title"]
    expected = (
        "Late, by the stacks: rank 0 is loading data (__next__, from pretrain.py:33); "
        "ranks 1-2 waited in a collective up to the time limit"
    )
    assert (title == expected) == is_late


def test_of_several_dumps_of_a_process_the_last_one_counts(ncdiag: Run, tmp_path: Path) -> None:
    texts = [dump(600, LOAD), dump(601, REDUCE), dump(600, REDUCE)]
    (tmp_path / "stacks.txt").write_text("".join(texts))
    assert answer(ncdiag, tmp_path / "stacks.txt")["name"] == "processes-wait-together"
    (tmp_path / "stacks.txt").write_text("".join(reversed(texts)))
    assert answer(ncdiag, tmp_path / "stacks.txt")["name"] == "process-elsewhere"


def test_dumps_of_faulthandler_in_files_named_after_ranks(ncdiag: Run, tmp_path: Path) -> None:
    torch = "/opt/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py"
    for rank in range(4):
        inner = ("/srv/shards.py", 31, "read") if rank == 2 else (torch, 2501, "all_reduce")
        (tmp_path / f"stack_rank_{rank}.log").write_text(handler([inner, ("/srv/pretrain.py", 40, "<module>")]))
    title = answer(ncdiag, tmp_path)["title"]
    assert title.startswith("Late, by the stacks: rank 2 is in read (srv/shards.py:31); ranks 0-1,3 wait in")


def test_a_line_above_a_stack_says_whose_it_is(ncdiag: Run, tmp_path: Path) -> None:
    heads = ["== rank 0 (pid 600)", "Rank 1:", "--- global rank=2 ---"]
    dumps = [dump(600, REDUCE), dump(601, REDUCE), dump(602, LOAD)]
    text = "".join(f"{head}\n{stack}\n" for head, stack in zip(heads, dumps, strict=True))
    (tmp_path / "stacks.txt").write_text(text)
    title = answer(ncdiag, tmp_path / "stacks.txt")["title"]
    assert title.startswith("Late, by the stacks: rank 2 is loading data")
    assert "ranks 0-1 wait" in title
    (tmp_path / "stacks.txt").write_text(text.replace("Rank 1:", "We saw that rank 1 is slow. Then it stood:"))
    assert "rank 1" not in answer(ncdiag, tmp_path / "stacks.txt")["title"]


def test_the_function_that_the_data_loader_asks_is_named(ncdiag: Run, tmp_path: Path) -> None:
    library = "    read (ssl.py:1099)\n    fetch (botocore/response.py:102)\n"
    asks = f"{library}    __getitem__ (images.py:12)\n    fetch (torch/utils/data/_utils/fetch.py:52)\n"
    (tmp_path / "stacks.txt").write_text(dump(600, asks + LOAD.partition("\n")[2]) + dump(601, REDUCE) * 2)
    title = answer(ncdiag, tmp_path / "stacks.txt")["title"]
    assert "loading data (__next__, from pretrain.py:33; in __getitem__, images.py:12)" in title


def test_the_log_of_nccl_gives_a_process_its_rank(ncdiag: Run, tmp_path: Path) -> None:
    line = "n1:{pid}:{pid} [{rank}] NCCL INFO ncclCommInitRank comm 0x5 rank {rank} nranks 2 cudaDev {rank} busId 6a000"
    log = "".join(f"{line.format(pid=600 + n, rank=n)} commId 0x7 - Init COMPLETE\n" for n in range(2))
    (tmp_path / "job.txt").write_text(log + dump(600, LOAD) + dump(601, REDUCE))
    assert "rank 0 is loading data" in answer(ncdiag, tmp_path / "job.txt")["title"]


@pytest.mark.parametrize("name", ["a\x1b[31m b (c) {d.odd_text}", "x" * 5000, "", ") (pretrain.py:1)"])
def test_hostile_names_of_functions_cost_nothing_but_themselves(ncdiag: Run, tmp_path: Path, name: str) -> None:
    hostile = dump(602, "    NAME (app.py:3)\n" + LOAD).replace("NAME", name)
    (tmp_path / "stacks.txt").write_text(dump(600, LOAD) + dump(601, REDUCE) + dump(603, REDUCE) + hostile)
    found = answer(ncdiag, tmp_path / "stacks.txt")
    assert found["name"] == "process-elsewhere"
    assert "process 600" in found["title"] or "processes 600,602" in found["title"]


@pytest.mark.parametrize(
    ("stacks", "name"),
    [
        ([FETCH, FETCH, REDUCE], "collective-on-some-ranks"),
        ([FETCH, FETCH, INSIDE], "processes-wait-together"),
        ([AWAIT, AWAIT, REDUCE], "processes-wait-together"),
        ([AWAIT, AWAIT, TUNE], "process-elsewhere"),
    ],
)
def test_a_process_may_wait_for_a_collective_that_was_started_before(
    ncdiag: Run, tmp_path: Path, stacks: list[str], name: str
) -> None:
    (tmp_path / "stacks.txt").write_text("".join(dump(600 + n, stack) for n, stack in enumerate(stacks)))
    assert answer(ncdiag, tmp_path / "stacks.txt")["name"] == name
