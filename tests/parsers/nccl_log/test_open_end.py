"""A last line without a line end says what it says, and proves no absence: it may be the beginning of a longer one."""

from __future__ import annotations

import pytest

from ncdiag.facts.model import Rank
from ncdiag.parsers.nccl_log.lines import settled
from ncdiag.text.reading.job import job_of
from ncdiag.text.reading.one import read_source
from ncdiag.text.sources.files import TextSource

LINES = (
    "n1:40:51 [0] NCCL INFO comm 0x55d0 rank 0 nranks 16 cudaDev 0 busId 1000 - Init START\n"
    "n1:40:51 [0] NCCL INFO Channel 00/0 : 0[0] -> 8[0] [send] via NET/IB/0"
)


def rank(text: str) -> Rank:
    (found,) = job_of([read_source(TextSource.of_bytes("log", text.encode()))]).ranks
    return found


def test_a_network_that_may_go_on_tells_nothing_of_gpudirect() -> None:
    assert rank(LINES + "\n").transports == {"NET/IB": 1}
    assert not rank(LINES).transports
    assert rank(LINES + "/GDRDMA\n").transports == {"NET/IB/GDRDMA": 1}


@pytest.mark.parametrize("last", ["n1:40:51 [0] init.cc:3 NCCL WARN Bootstrap : no socket interface found", "text", ""])
def test_other_lines_stay(last: str) -> None:
    assert settled(last.encode()) == last.encode()
