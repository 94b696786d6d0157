"""Two containers may print one host name and one process id: the labels in front of their lines tell them apart."""

from __future__ import annotations

import pytest

from ncdiag.diagnose import look
from ncdiag.facts.model import Job

LABELS = (
    ("[pod/w-0/pytorch] ", "[pod/w-1/pytorch] "),
    ("worker0-1  | ", "worker1-1  | "),
    ("w-0 pytorch ", "w-1 pytorch "),
    ("n1: ", "n2: "),
)
START = (
    "node7:41:93 [0] NCCL INFO ncclCommInitRank comm 0x5581 rank {rank} nranks 2 cudaDev 0 nvmlDev 0 busId 6a000 "
    "commId 0x7f1 - Init START"
)
WARN = "node7:41:93 [0] misc/socket.cc:50 NCCL WARN socketProgress: Connection closed by remote peer"


def job(one: str, other: str, ranks: tuple[int, int] = (0, 1)) -> Job:
    lines = [one + START.format(rank=ranks[0]), other + START.format(rank=ranks[1])]
    lines += [label + WARN for _ in range(2) for label in (one, other)]
    return look("\n".join(lines))[0].job


@pytest.mark.parametrize("labels", LABELS, ids=lambda labels: labels[0].strip())
def test_two_ranks_stay_two(labels: tuple[str, str]) -> None:
    found = job(*labels)
    assert [(rank.rank, rank.pid) for rank in found.ranks] == [(0, 41), (1, 41)]
    assert len({rank.host for rank in found.ranks}) == 2
    assert [(event.rank, event.count) for event in found.events] == [(0, 2), (1, 2)]
    assert all("node7:41" in span.text for event in found.events for span in event.provenance.values())


@pytest.mark.parametrize("labels", LABELS, ids=lambda labels: labels[0].strip())
def test_output_that_is_shown_twice_is_one_rank(labels: tuple[str, str]) -> None:
    found = job(*labels, ranks=(0, 0))
    assert [(rank.rank, rank.host) for rank in found.ranks] == [(0, "node7")]


def test_containers_of_one_pod_show_one_process() -> None:
    assert len(job("[pod/w-0/pytorch] ", "[pod/w-0/log] ").ranks) == 1
