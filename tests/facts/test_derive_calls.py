"""The last collective of each rank: who is behind, who called something else."""

from __future__ import annotations

from typing import Any

import pytest

from ncdiag.base.spans import Span
from ncdiag.facts.model import Event, Job, LastOp, Rank
from ncdiag.facts.scalars import VersionRange
from ncdiag.facts.view import View
from ncdiag.knowledge.collective.stragglers import collective_events
from ncdiag.knowledge.collective.stragglers import waits as found_waits

FAILED = Event(event="torch-watchdog-timeout", origin="torch", kind="symptom", provenance={"": Span("x", 1)})


def rank(number: int, *ops: tuple[str, int, int], version: str = "2.27.7") -> Rank:
    """A rank whose last calls are (function, opCount, elements), each on a communicator of its own."""
    told = tuple(
        LastOp(function=function, op_count=op_count, count=count, datatype="float32", communicator=f"0x{index}")
        for index, (function, op_count, count) in enumerate(ops)
    )
    where = {"last_ops": Span("job.log", number + 1)}
    return Rank(host="a", rank=number, last_ops=told, nccl_version=VersionRange.exact(version), provenance=where)


def waits(*ranks: Rank, events: tuple[Event, ...] = (FAILED,)) -> list[dict[str, str]]:
    job = Job(ranks=ranks, events=events)
    return [wait.groups for wait in found_waits(job, View(job))]


def mismatches(*ranks: Rank, events: tuple[Event, ...] = (FAILED,)) -> list[str]:
    job = Job(ranks=ranks, events=events)
    found: tuple[Any, ...] = collective_events(job, View(job))
    return [event.text for event in found if event.event == "collective-mismatch"]


SUM = "AllReduce", 42, 1024
EARLIER = "AllReduce", 41, 1024


def test_the_rank_that_is_behind() -> None:
    assert waits(rank(0, SUM), rank(1, SUM), rank(2, EARLIER)) == [{"waiting": "ranks 0-1", "late": "rank 2"}]


@pytest.mark.parametrize(
    "ranks",
    [
        [rank(0, SUM), rank(1, SUM)],
        [rank(0, SUM), rank(1, EARLIER)],
        [rank(0, SUM), rank(1, EARLIER), rank(2, ("AllReduce", 40, 9)), rank(3, ("AllReduce", 39, 9))],
        [rank(0, SUM)],
    ],
    ids=["all at one call", "as many behind as ahead", "anywhere", "one rank"],
)
def test_nobody_is_behind(ranks: list[Rank]) -> None:
    assert waits(*ranks) == []


def test_a_job_in_which_nothing_failed_was_cut_off() -> None:
    ranks = rank(0, SUM), rank(1, SUM), rank(2, EARLIER), rank(3, ("Broadcast", 42, 8))
    assert waits(*ranks, events=()) == []
    assert mismatches(*ranks, events=()) == []


def test_another_call_of_one_number() -> None:
    text = "as opCount 2a of communicator 0x0 ranks 0,2 called AllReduce of 1024 float32, rank 1 called {}"
    for other, words in [
        (("Broadcast", 42, 8), "Broadcast of 8 float32"),
        (("AllReduce", 42, 8), "AllReduce of 8 float32"),
    ]:
        assert mismatches(rank(0, SUM), rank(1, other), rank(2, SUM)) == [text.format(words)]
    assert mismatches(rank(0, ("Send", 42, 8)), rank(1, ("Send", 42, 16))) == []


def test_numbers_of_a_process_are_compared_only_where_it_has_one_communicator() -> None:
    wide = [rank(n, (*SUM[:1], 42 - (n == 2), 8), ("Broadcast", 90 + n, 8), version="2.18.3") for n in range(3)]
    assert waits(*wide) == []
    assert waits(*(rank(n, (*SUM[:1], 42 - (n == 2), 8), version="2.18.3") for n in range(3)))
