"""Who did not come to a barrier of DeepEP: the lines name those that waited, and over GIN the peer that they missed."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from judged import findings

from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.barriers import barrier_waits, is_late_at_barrier
from ncdiag.text.reading.job import job_of
from ncdiag.text.reading.one import read_source
from ncdiag.text.sources.files import TextSource

GIN = (
    "(EngineCore_DP{rank} pid={pid}) DeepEP Gin barrier timeout, tag: {tag}, scaleout: {out}, scaleup: {rank}, "
    "thread: {peer}, signal: 41, target: 42"
)
NVLINK = (
    "DeepEP NVLink barrier timeout, tag: 1, nvl: {rank}, thread: 0, status: 1, signal: 7, phase: 1, target: 8, "
    "counter: 91"
)
OLDER = "DeepEP timeout check failed: rank = {rank}, thread = 3, value = 1024)"
TRAP = "RuntimeError: CUDA error: unspecified launch failure"


def printed(line: str, ranks: Iterable[int], *, peer: int = 0, tag: int = 2, out: int = 0) -> str:
    return "".join(line.format(rank=rank, pid=900 + rank, peer=peer, tag=tag, out=out) + "\n" for rank in ranks)


def late(text: str) -> list[tuple[str, str]]:
    job = job_of([read_source(TextSource.of_bytes("x.log", text.encode()))])
    found = list(barrier_waits(job))
    assert is_late_at_barrier(View(job)) == bool(found)
    return [(one.groups["late"], one.groups["waiting"]) for one in found]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (printed(GIN, {*range(16)} - {11}, peer=11), [("rank 11", "ranks 0-10,12-15")]),
        (printed(GIN, range(15), peer=15), [("rank 15", "ranks 0-14")]),
        (printed(NVLINK, {*range(8)} - {3}), [("rank 3", "ranks 0-2,4-7")]),
        (printed(OLDER, {*range(8)} - {3}), [("rank 3", "ranks 0-2,4-7")]),
        (
            printed(GIN, range(4), peer=6, tag=1) + printed(GIN, range(4, 8), peer=1, tag=2),
            [("rank 6", "ranks 0-3"), ("rank 1", "ranks 4-7")],
        ),
        (
            "".join(
                printed(GIN.replace("scaleup: {rank}", "scaleup: 1"), [2], peer=5, out=out) for out in (0, 1, 2, 3, 4)
            ),
            [("scaleout rank 5", "scaleout ranks 0-4")],
        ),
    ],
    ids=["peer", "last", "gap", "older", "two barriers", "rail"],
)
def test_the_rank_that_did_not_come_is_named(text: str, said: list[tuple[str, str]]) -> None:
    assert late(text) == said


@pytest.mark.parametrize(
    "text",
    [
        "".join(printed(GIN, [rank], peer=(rank + 1) % 8) for rank in range(8)),
        printed(NVLINK, range(8)),
        printed(NVLINK, [0, 2, 4, 6]),
        printed(NVLINK, [3]),
        printed(GIN, [3], peer=2),
    ],
    ids=["each misses another one", "all", "every second", "one line", "one rank"],
)
def test_nobody_is_named_where_the_lines_do_not_say_it(text: str) -> None:
    assert not late(text)


def test_the_late_rank_leads_before_the_failure_that_the_limit_causes() -> None:
    text = printed(GIN, {*range(16)} - {11}, peer=11)
    release = "n1:40:40 [0] NCCL INFO NCCL version 2.30.7+cuda12.9\n"
    found = findings(f"It hangs in DeepEP, then it crashes.\n\n{release}{text}{TRAP}\n")
    names = [one.rule.name for one in found if one.role == "cause"]
    assert names == ["collective-straggler-late"]
    other = findings(
        f"It crashes.\n\n{release}{text}RuntimeError: CUDA error: an illegal memory access was encountered\n"
    )
    assert "cuda-illegal-access" in [one.rule.name for one in other]
    assert "collective-straggler-late" not in [one.rule.name for one in findings(f"It crashes.\n\n{release}{TRAP}\n")]
