"""The two calls of ranks that PyTorch found to differ, in the words of several releases."""

from __future__ import annotations

import pytest

from ncdiag.facts.model import Event, Job
from ncdiag.facts.view import View
from ncdiag.knowledge.collective.fingerprints import unlike_calls

AT = "SequenceNumber="
SUM, OTHER = "OpType=ALLREDUCE, TensorShape=[4, 7], TensorDtypes=Float", "OpType=ALLREDUCE, TensorShape=[4, 9]"


@pytest.mark.parametrize(
    ("own", "peer", "told"),
    [
        (f"{AT}7, {SUM}", f"{AT}7, OpType=BARRIER", "rank 3 calls ALLREDUCE, rank 0 BARRIER (collective 7)"),
        (f"{AT}7, {SUM}", f"{AT}8, {OTHER}", "rank 3 calls ALLREDUCE of [4, 7], rank 0 ALLREDUCE of [4, 9]"),
        (SUM, SUM.replace("Float", "Half"), "rank 3 calls ALLREDUCE of Float, rank 0 ALLREDUCE of Half"),
        (SUM, "TensorShape=[4", ""),
    ],
)  # fmt: skip
def test_both_calls_are_told_by_what_differs(own: str, peer: str, told: str) -> None:
    fields: dict[str, int | float | str | None] = {
        "rank": 3,
        "fingerprint": own,
        "peer_rank": 0,
        "peer_fingerprint": peer,
    }
    event = Event(event="torch-collective-mismatch", origin="torch", kind="cause", fields=fields)
    assert unlike_calls(event, View(Job(events=(event,)))) == told
