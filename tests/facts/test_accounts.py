"""The account of the communicators: which are complete, and who is missing."""

from __future__ import annotations

import pytest
from linear import assert_linear

from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.accounts import communicator_account
from ncdiag.knowledge.collective.hangs import waits_after_init
from ncdiag.knowledge.launcher.left_open import is_left_open, open_text
from ncdiag.report import accounts
from ncdiag.text.reading.job import job_of
from ncdiag.text.reading.one import read_source
from ncdiag.text.sources.files import TextSource

START, COMPLETE = "START", "COMPLETE"


def line(rank: int, text: str, host: str = "srv{}", pointer: int = 0x5000) -> str:
    return f"{host.format(rank // 2)}:{100 + rank}:{100 + rank} [0] NCCL INFO comm 0x{pointer + rank:x} {text}\n"


def init(rank: int, nranks: int, comm: str, *states: str, own: int | None = None, host: str = "srv{}") -> str:
    """The lines of one process; ``own``: its rank in the communicator, if that is not the rank in the job."""
    number, pointer = rank if own is None else own, int(comm, 16) << 16
    return "".join(
        line(rank, f"rank {number} nranks {nranks} cudaDev 0 busId 1b000 commId {comm} - Init {state}", host, pointer)
        for state in states
    )


def view_of(text: str) -> View:
    return View(job_of([read_source(TextSource.of_bytes("x.log", text.encode()))], []))


def told(text: str, most: int = 3) -> list[tuple[str, str]]:
    view = view_of(text)
    account = accounts.account(communicator_account(view.job, view), "")
    return list(accounts.lines(account, most))


def whole(comm: str = "0x1") -> str:
    return "".join(init(rank, 4, comm, START, COMPLETE) for rank in range(4))


def test_the_ranks_that_did_not_finish_are_named_with_their_hosts() -> None:
    pair = init(2, 2, "0x2", START, own=0) + init(3, 2, "0x2", START, COMPLETE, own=1)
    assert told(whole() + pair) == [
        ("Communicators", "1 of 2 communicators are complete; 0x2: rank 0 of 2 on srv1 never finished")
    ]


def test_a_rank_that_did_not_begin_is_named_where_all_ranks_are_in_the_input() -> None:
    one = init(0, 3, "0x2", START, COMPLETE) + init(1, 3, "0x2", START)
    said = "rank 2 of 3 never began, rank 1 of 3 on srv0 never finished"
    assert told(whole() + one) == [("Communicators", f"1 of 2 communicators are complete; 0x2: {said}")]
    one_rank = init(0, 4, "0x1", START, COMPLETE) + init(0, 3, "0x2", START, COMPLETE)
    assert told(one_rank) == []


@pytest.mark.parametrize("text", [whole(), whole() + whole("0x2"), "".join(init(n, 4, "0x1", START) for n in range(4))])
def test_nothing_is_said_of_complete_ones_and_of_a_log_that_shows_no_end(text: str) -> None:
    assert told(text) == []


def test_the_first_ones_are_named_and_the_others_counted() -> None:
    text = whole() + "".join(init(0, 2, f"0x{number}", START) for number in range(2, 7))
    ((_, said),) = told(text, 2)
    assert said.startswith("1 of 6 communicators are complete; 0x2: rank 1 of 2 never began, rank 0 of 2 on srv0")
    assert said.endswith("; and 3 more")
    account = accounts.account(communicator_account((view := view_of(text)).job, view), "")
    assert account is not None
    assert [one.number for one in account.listed] == [2, 3, 4, 5, 6, 1]


def test_who_is_missing_as_the_title_of_a_finding() -> None:
    view = view_of(whole() + init(0, 4, "0x2", START) + init(1, 4, "0x2", START, COMPLETE))
    texts = {one.id: open_text(one, view) for one in view.job.communicators}
    assert texts == {
        "0x1": "",
        "0x2": "ranks 2-3 of 4 never began the setup of communicator 0x2; "
               "rank 0 of 4 on srv0 never finished it; another one is complete",
    }  # fmt: skip


def part(rank: int, color: int, own: int, *states: str, number: int = 1, size: int = 4) -> str:
    """The lines of one process of a job of 8 about the part of a split that it goes to."""
    return "".join(
        f"srv{rank // 4}:{100 + rank}:{300 + rank} [0] NCCL INFO ncclCommSplit comm 0x{0x90000 + number * 64 + rank:x} "
        f"rank {own} nranks {size} cudaDev 0 nvmlDev 0 busId 1b000 parent 0x{0x10000 + rank:x} splitCount {number} "
        f"color {color} key {own} - Init {state}\n"
        for state in states
    )


def eight() -> str:
    return "".join(init(rank, 8, "0x1", START, COMPLETE, host=f"srv{rank // 4}") for rank in range(8))


ODD = "".join(part(rank, 9, rank // 2, START, COMPLETE) for rank in (1, 3, 5, 7))


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        # The other part of the split leaves one process of the parent.
        ([(0, 0), (2, 1), (4, 2)], "rank 3 of 4 (rank 6 of its parent, on srv1) never began"),
        ([(0, 0), (4, 2), (6, 3)], "rank 1 of 4 (rank 2 of its parent, on srv0) never began"),
        ([(0, 0), (6, 3)], "ranks 1-2 of 4 (ranks 2,4 of its parent, on srv[0-1]) never began"),
    ],
)
def test_a_missing_rank_of_a_split_is_named_by_its_place_in_the_parent(parts: list[tuple[int, int]], said: str) -> None:
    even = "".join(part(rank, 7, own, START) for rank, own in parts)
    view = view_of(eight() + ODD + even)
    texts = [open_text(one, view) for one in view.job.communicators if one.id == "0x1/1.7"]
    assert texts[0].startswith(f"{said} the setup of communicator 0x1/1.7; ")


def test_the_order_of_the_others_shows_the_place_where_each_group_is_a_split_of_its_own() -> None:
    regular = view_of(eight() + "".join(part(rank, 7, rank // 2, START) for rank in (0, 2, 4)))
    (entry,) = [one for one in communicator_account(regular.job, regular) if one.never]
    assert entry.above == {6: "srv1"}
    few = view_of(eight() + "".join(part(rank, 7, own, START) for rank, own in ((0, 0), (5, 2))))
    (entry,) = [one for one in communicator_account(few.job, few) if one.never]
    assert entry.above == {}


def test_hosts_in_files_of_their_own_show_the_place_together() -> None:
    lines = (eight() + ODD + "".join(part(rank, 7, rank // 2, START) for rank in (0, 2, 4))).splitlines(keepends=True)
    files = ["".join(line for line in lines if line.startswith(host)) for host in ("srv0", "srv1")]
    sources = [read_source(TextSource.of_bytes(f"{n}.log", text.encode())) for n, text in enumerate(files)]
    view = View(job_of(sources, []))
    (entry,) = [one for one in communicator_account(view.job, view) if one.never]
    assert entry.above == {6: "srv1"}


def test_a_job_that_hangs_with_many_communicators_is_judged_in_linear_time() -> None:
    def made(count: int) -> View:
        whole = "".join(init(rank, 2, f"{0x100 + n:#x}", START, COMPLETE) for n in range(count) for rank in range(2))
        return view_of(f"The job hangs.\n\n{whole}{init(0, 2, '0x99', START)}")

    def judge(view: View) -> None:
        judged = [(is_left_open(one, view), waits_after_init(one, view)) for one in view.job.communicators]
        assert judged.count((True, False)) == 1
        assert len(set(judged)) == 2

    assert_linear(judge, made, 40)
