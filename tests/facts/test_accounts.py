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


def shrunk(rank: int, own: int, *states: str) -> str:
    """The lines of one process of a job of 8 that shrinks to 7 without rank 1."""
    head = f"srv{rank // 4}:{100 + rank}:{300 + rank} [0] NCCL INFO ncclCommShrink comm 0x{0xA0000 + rank:x} rank {own}"
    tail = f"parent 0x{0x10000 + rank:x} childCount 1 color 0 key {rank}"
    return "".join(f"{head} nranks 7 cudaDev 0 busId 1b000 {tail} - Init {state}\n" for state in states)


def test_a_gap_in_growing_ranks_shows_who_is_missing_after_a_shrink() -> None:
    lines = "".join(shrunk(rank, own, START) for own, rank in enumerate((0, 2, 3, 4, 5, 6, 7)) if rank != 5)
    view = view_of(eight() + lines)
    (entry,) = [one for one in communicator_account(view.job, view) if one.is_open]
    assert (entry.never, entry.above) == ((4,), {5: "srv1"})


def test_the_host_is_that_of_the_rank_in_the_job_where_the_parent_is_a_part_of_it() -> None:
    whole_shrink = "".join(shrunk(rank, own, START, COMPLETE) for own, rank in enumerate((0, 2, 3, 4, 5, 6, 7)))
    child = "".join(
        part(rank, 3, own, START, size=4).replace(f"parent 0x{0x10000 + rank:x}", f"parent 0x{0xA0000 + rank:x}")
        for own, rank in ((0, 0), (1, 3), (2, 5))
    )
    view = view_of(eight() + whole_shrink + child)
    (entry,) = [one for one in communicator_account(view.job, view) if one.is_open]
    assert entry.above == {6: "srv1"}, "rank 6 of the seven is rank 7 of the job"


def test_one_that_all_aborted_is_neither_complete_nor_open() -> None:
    def aborted(rank: int) -> str:
        line = f"comm 0x{(0x9A << 16) + rank:x} rank {rank} nRanks 8 cudaDev 0 busId 1b000 - Abort {{}}\n"
        return "".join(
            f"srv{rank // 4}:{100 + rank}:{100 + rank} [0] NCCL INFO {line.format(s)}" for s in (START, COMPLETE)
        )

    first = "".join(init(rank, 8, "0x9a", START, host=f"srv{rank // 4}") for rank in range(7))
    view = view_of(first + "".join(aborted(rank) for rank in range(7)) + eight())
    entries = communicator_account(view.job, view)
    assert [(one.is_open, one.is_complete) for one in entries] == [(False, False), (False, True)]
    child = "".join(part(rank, 7, own, START) for rank, own in ((0, 0), (2, 1), (4, 2)))
    view = view_of(first + "".join(aborted(rank) for rank in range(7)) + eight() + child)
    (entry,) = [one for one in communicator_account(view.job, view) if one.is_open]
    assert entry.above == {6: "srv1"}


@pytest.mark.parametrize("count", ["", "childCount 1 "])
def test_a_split_without_a_number_is_known_by_its_color(count: str) -> None:
    """NCCL 2.23 prints neither an id nor the number of the split."""
    lines = ODD + "".join(part(rank, 7, rank // 2, START) for rank in (0, 2, 4))
    view = view_of(eight() + lines.replace("splitCount 1 ", count))
    entries = {one.communicator.id: one for one in communicator_account(view.job, view)}
    number = "1" if count else "?"
    assert set(entries) == {"0x1", f"0x1/{number}.9", f"0x1/{number}.7"}
    assert entries[f"0x1/{number}.7"].above == {6: "srv1"}


def test_a_second_split_of_a_color_without_a_number_is_another_one() -> None:
    first = "".join(part(rank, 7, rank // 2, START, COMPLETE) for rank in (0, 2, 4, 6))
    again = "".join(part(rank, 7, rank // 2, START, number=2) for rank in (0, 2, 4))
    text = eight() + (first + again).replace("splitCount 1 ", "").replace("splitCount 2 ", "")
    view = view_of(text)
    entries = {one.communicator.id: one for one in communicator_account(view.job, view)}
    assert entries["0x1/?.7"].is_complete
    assert entries["0x1/?.7#2"].above == {6: "srv1"}


def test_up_to_2_20_the_rank_in_the_job_is_told() -> None:
    """They print no parent."""
    child = "".join(init(rank, 4, "0x2", START, own=rank // 2, host=f"srv{rank // 4}") for rank in (0, 2, 4))
    view = view_of(eight() + child)
    text = next(open_text(one, view) for one in view.job.communicators if one.id == "0x2")
    assert text.startswith("rank 3 of 4 (rank 6 of the job, on srv1) never began the setup of communicator 0x2; ")


def test_a_job_that_hangs_with_many_communicators_is_judged_in_linear_time() -> None:
    def made(count: int) -> View:
        whole = "".join(init(rank, 2, f"{0x100 + n:#x}", START, COMPLETE) for n in range(count) for rank in range(2))
        return view_of(f"The job hangs.\n\n{whole}{init(0, 2, '0x99', START)}")

    def judge(view: View) -> None:
        judged = [(is_left_open(one, view), waits_after_init(one, view)) for one in view.job.communicators]
        assert judged.count((True, False)) == 1
        assert len(set(judged)) == 2

    assert_linear(judge, made, 40)
