"""Who failed first: nobody in a healthy job, and nobody knows where nothing gives an order."""

from __future__ import annotations

import pytest
from generate import healthy

from ncdiag.facts.view import View
from ncdiag.messages.vocabulary.timeline import timeline
from ncdiag.text.reading.job import job_of
from ncdiag.text.reading.one import read_source
from ncdiag.text.sources.files import TextSource

INIT = "{0}:4{1}:51 [0] NCCL INFO comm 0x{1} rank {1} nranks 2 cudaDev 0 busId 1000 commId 0x9 - Init {2}\n"
STEPS = "".join(f"step {number} loss 2.{number}\n" for number in range(1, 7))
REFUSED = "{0}:4{1}:51 [0] misc/socket.cc:48 NCCL WARN Net : Connect to 10.1.2.9<40815> failed : Connection refused\n"
COMPLETION = "{0}:4{1}:51 [0] NCCL WARN NET/IB : Got completion from peer 10.1.2.9<4791> with status=12 opcode=0\n"
CLOSED = "{0}:4{1}:51 [0] misc/socket.cc:49 NCCL WARN Net : Connection closed by remote peer n9<51234>\n"
EXITED = "srun: error: n2: task 1: Exited with exit code 1\n"
GAVE_UP = (
    "[rank{0}]:[E ProcessGroupNCCL.cpp:523] [Rank {0}] Watchdog caught collective operation timeout: "
    "WorkNCCL(SeqNum={1}, OpType=ALLREDUCE, Timeout(ms)=600000) ran for 600123 milliseconds before "
    "timing out.\n"
)


def stamped(second: int, line: str) -> str:
    return f"2026-03-04 05:06:{second:02} {line}"


def up(*hosts: str) -> str:
    return "".join(INIT.format(host, rank, word) for word in ("START", "COMPLETE") for rank, host in enumerate(hosts))


def told(*texts: str) -> list[tuple[str, str, str]]:
    sources = [TextSource.of_bytes(f"log{number}", text.encode()) for number, text in enumerate(texts)]
    view = View(job_of([read_source(source) for source in sources]))
    return [(moment.what, moment.who, moment.ordered_by) for moment in timeline(view.job, view)]


def firsts(*texts: str) -> list[tuple[str, str, str]]:
    return [found for found in told(*texts) if found[0] != "last"]


@pytest.mark.parametrize(
    "text",
    [
        "nothing\n", up("n1", "n2"), up("n1", "n2") + STEPS, REFUSED.format("n1", 0) + up("n1", "n2") + STEPS,
        healthy.healthy_log(healthy.healthy_job("2.21.5", "ib")),
    ],
)  # fmt: skip
def test_a_job_in_which_nothing_failed_has_none(text: str) -> None:
    assert told(text) == []


def test_one_rank_that_speaks_has_no_order() -> None:
    assert told(INIT.format("n1", 0, "START") + REFUSED.format("n1", 0)) == []


def test_within_one_source_lines_have_an_order() -> None:
    text = up("n1", "n2") + COMPLETION.format("n2", 1) + REFUSED.format("n1", 0)
    assert firsts(text) == [("first-failure", "rank 1 on n2", "line")]


def test_an_echo_is_not_the_first_failure() -> None:
    text = up("n1", "n2") + CLOSED.format("n1", 0) + COMPLETION.format("n2", 1)
    assert firsts(text) == [("first-failure", "rank 1 on n2", "line")]


def test_of_two_files_without_stamps_nobody_knows() -> None:
    files = (up("n1", "n2") + REFUSED.format("n1", 0), COMPLETION.format("n2", 1) + EXITED)
    found = [("first-failure", "rank 0 on n1", "none"), ("first-failure", "rank 1 on n2", "none")]
    assert firsts(*files) == found
    assert sorted(firsts(*reversed(files))) == sorted(found)


def test_stamps_order_the_lines_of_two_files() -> None:
    first = up("n1", "n2") + stamped(40, REFUSED.format("n1", 0))
    second = stamped(20, COMPLETION.format("n2", 1))
    assert firsts(first, second) == [("first-failure", "rank 1 on n2", "time")]
    assert firsts(second, first) == [("first-failure", "rank 1 on n2", "time")]


def test_stamps_of_two_hosts_that_lie_close_tell_nothing() -> None:
    first, second = stamped(20, REFUSED.format("n1", 0)), stamped(21, COMPLETION.format("n2", 1))
    assert [how for _, _, how in firsts(up("n1", "n2") + first, second)] == ["none", "none"]
    assert [how for _, _, how in firsts(up("n1", "n1") + first, second.replace("n2", "n1"))] == ["time"]


NODES = "{0}:4{1}:51 [0] NCCL INFO comm 0x{1} rank {1} nRanks 2 nNodes 2 localRanks 1 localRank 0 MNNVL 0\n"


def test_clocks_that_differ_are_set_right_first() -> None:
    """The clock of n2 is 30 seconds ahead: both lines about the nodes were printed at one moment."""
    first = stamped(10, NODES.format("n1", 0)) + stamped(20, REFUSED.format("n1", 0))
    second = stamped(40, NODES.format("n2", 1)) + stamped(45, COMPLETION.format("n2", 1))
    assert firsts(first, second) == [("first-failure", "rank 1 on n2", "time")]


def test_the_process_that_ended_first_stands_beside_the_first_failure() -> None:
    text = up("n1", "n2") + COMPLETION.format("n1", 0) + EXITED
    assert firsts(text) == [("first-failure", "rank 0 on n1", "line"), ("first-end", "Task 1 on n2", "line")]


def test_what_every_rank_did_last() -> None:
    text = up("n1", "n1", "n2").replace("nranks 2", "nranks 4") + GAVE_UP.format(0, 41) + GAVE_UP.format(1, 40)
    view = View(job_of([read_source(TextSource.of_bytes("log", text.encode()))]))
    last = [(moment.who, moment.text) for moment in timeline(view.job, view) if moment.what == "last"]
    assert last == [
        ("rank 3", "printed nothing in this input"), ("rank 2 on n2", "had completed its communicator"),
        ("rank 1 on n1", "waited in ALLREDUCE number 40"), ("rank 0 on n1", "waited in ALLREDUCE number 41"),
    ]  # fmt: skip


def test_who_gives_up_waiting_first_need_not_have_failed_first() -> None:
    text = up("n1", "n2") + GAVE_UP.format(1, 41) + GAVE_UP.format(0, 41)
    assert firsts(text)[0] == ("first-to-give-up", "rank 1", "line")
    assert firsts(up("n1", "n2") + COMPLETION.format("n2", 1) + GAVE_UP.format(0, 41))[0][0] == "first-failure"


def test_a_rank_that_raised_failed_before_those_that_gave_up_waiting_for_it() -> None:
    raised = "[rank1]: Traceback (most recent call last):\n[rank1]: ValueError: batch 17 is empty\n"
    files = (up("n1", "n2") + GAVE_UP.format(0, 41), raised)
    assert firsts(*files) == [("first-failure", "rank 1", "wait")]
    assert firsts(*reversed(files)) == [("first-failure", "rank 1", "wait")]
    late = files[0] + raised  # in one source the lines have an order
    assert firsts(late)[0] == ("first-to-give-up", "rank 0", "line")
