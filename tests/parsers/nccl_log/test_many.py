"""Thousands of communicators in one process: none that is open is forgotten, and all are counted, in bounded memory."""

from __future__ import annotations

import pickle
from collections.abc import Callable

import pytest
from linear import assert_linear

from ncdiag.facts.observe import Parsed
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.accounts import communicator_account
from ncdiag.parsers.nccl_log import Scanner, account, lives
from ncdiag.report import accounts
from ncdiag.text.reading.job import job_of
from ncdiag.text.reading.one import read_source
from ncdiag.text.sources.files import TextSource

MANY = 3 * lives.LIFE_LIMIT


def line(rank: int, pointer: int, of: str, state: str, nranks: int = 2) -> str:
    return (
        f"srv1:{100 + rank}:{100 + rank} [{rank}] NCCL INFO ncclCommInitRank comm 0x{pointer + rank:x} rank {rank} "
        f"nranks {nranks} cudaDev {rank} nvmlDev {rank} busId 1b000 {of} - Init {state}\n"
    )


def init(number: int, *, is_open: bool = False, pointer: int | None = None, of: str = "") -> str:
    """The lines of both ranks; rank 1 of an open one does not finish. ``pointer``: where it is not one of its own."""
    at = 0x10000 * number if pointer is None else pointer
    of = of or f"commId 0x{number:x}"
    begun = [line(rank, at, of, "START") for rank in range(2)]
    return "".join([*begun, *(line(rank, at, of, "COMPLETE") for rank in range(1 if is_open else 2))])


def text_of(opened: Callable[[int], bool], many: int = MANY, pointer: int | None = None) -> str:
    return "".join(init(number, is_open=opened(number), pointer=pointer) for number in range(1, many + 1))


def told(*texts: str) -> tuple[int, int, dict[str, str]]:
    """How many were begun and are complete, and who is missing of the others."""
    readings = [read_source(TextSource.of_bytes(f"{n}.log", text.encode())) for n, text in enumerate(texts)]
    job = job_of(readings, [])
    found = accounts.account(communicator_account(job, View(job)), "", job.communicators_unlisted or 0)
    assert found is not None
    return found.begun, found.complete, {one.id: one.unfinished for one in found.listed if accounts.is_open(one)}


@pytest.mark.parametrize("place", [1, 2, MANY // 2, MANY - 1, MANY])
@pytest.mark.parametrize("pointer", [None, 0x5000])
def test_the_open_one_is_told_wherever_it_was_begun(place: int, pointer: int | None) -> None:
    text = text_of(lambda number: number == place, pointer=pointer)
    assert told(text) == (MANY, MANY - 1, {f"0x{place:x}": "1"})


def test_nothing_is_open_where_all_are_complete() -> None:
    assert told(text_of(lambda _: False)) == (MANY, MANY, {})


def test_more_are_open_than_a_process_keeps() -> None:
    begun, complete, opened = told(text_of(lambda number: number % 2 == 0))
    assert (begun, complete) == (MANY, MANY // 2)
    assert {int(name, 16) for name in opened} >= set(range(2, 2 * (accounts.LISTED + 1), 2))


def test_one_that_ends_late_is_not_open() -> None:
    text = text_of(lambda number: number == 3) + line(1, 0x30000, "commId 0x3", "COMPLETE")
    assert told(text) == (MANY, MANY, {})


def test_it_is_the_same_in_one_file_a_rank() -> None:
    text = text_of(lambda number: number == 7)
    files = ["".join(row for row in text.splitlines(keepends=True) if f"[{rank}]" in row) for rank in range(2)]
    assert told(*files) == told(text)


def test_a_split_of_one_that_is_no_longer_kept_has_its_name() -> None:
    split = "".join(
        line(rank, 0x7, f"parent 0x{0x20000 + rank:x} splitCount 1 color 0 key 0", "START") for rank in range(2)
    )
    begun, complete, opened = told(text_of(lambda _: False) + split)
    assert (begun, complete, opened) == (MANY + 1, MANY, {"0x2/1.0": "0-1"})


def scanned(text: str, first_line: int = 1) -> Scanner:
    found = Scanner("x", first_line=first_line)
    found.feed(text.encode())
    return found


def in_parts(rows: list[str], borders: list[int]) -> Parsed:
    parts = [
        pickle.loads(pickle.dumps(scanned("".join(rows[begin:end]), begin + 1)))  # noqa: S301  (our own)
        for begin, end in zip([0, *borders], [*borders, len(rows)], strict=True)
    ]
    for later in parts[1:]:
        parts[0].merge(later)
    result: Parsed = parts[0].finish()
    return result


@pytest.mark.parametrize("pointer", [None, 0x5000])
def test_parts_give_what_the_whole_gives(pointer: int | None) -> None:
    """Each communicator is followed by one that was split from it, and so is unknown where a part begins with it."""
    rows = []
    for number in range(1, MANY + 1):
        at = 0x10000 * number if pointer is None else pointer
        rows += init(number, pointer=pointer).splitlines(keepends=True)
        child = f"parent 0x{at:x} splitCount 1 color 0 key 0"
        states = ("START", "COMPLETE") if number != 5 else ("START",)  # that one keeps its memory
        rows += [line(0, at + (16 if number != 5 else 32), child, state) for state in states]
    whole = scanned("".join(rows)).finish()
    found = [o for o in whole.observations if o.entity == "Communicator"]
    assert len(found) == 2 * MANY
    for borders in ([29], [len(rows) // 2 + 4], [len(rows) // 3, len(rows) // 2, len(rows) - 5]):
        parts = in_parts(rows, borders)
        assert [o for o in parts.observations if o.entity == "Communicator"] == found


def test_rows_that_all_ranks_completed_give_way_and_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(account, "COMM_LIMIT", 100)
    monkeypatch.setattr(account, "_SLACK", 10)
    text = text_of(lambda number: number in {5, MANY - 5}) + line(0, 0x8, "commId 0xfff0", "START", nranks=1)
    opened = {"0x5": "1", f"0x{MANY - 5:x}": "1", "0xfff0": "0"}
    assert told(text) == (MANY + 1, MANY - 2, opened)
    rows = text.splitlines(keepends=True)
    parts = in_parts(rows, [len(rows) // 2])
    assert len([o for o in parts.observations if o.entity == "Communicator"]) == 100
    assert [o.fields["communicators_unlisted"] for o in parts.observations if o.entity == "Job"] == [MANY - 99]


def test_a_rank_is_not_called_missing_where_its_file_forgot_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(account, "COMM_LIMIT", 100)
    text = text_of(lambda _: False)
    of_rank = ["".join(row for row in text.splitlines(keepends=True) if f"[{rank}]" in row) for rank in range(2)]
    ids = [f"commId 0xa{number:04x}" for number in range(50)]
    more = "".join(line(1, 0x10, one, state, 1) for one in ids for state in ("START", "COMPLETE"))
    assert told(of_rank[0], of_rank[1] + more)[2] == {}


def test_memory_does_not_grow_with_the_communicators_of_a_process() -> None:
    found = scanned(text_of(lambda _: False))
    assert all(len(record.lives) <= lives.LIFE_LIMIT for record in found._records.values())
    assert_linear(lambda text: scanned(text).finish(), lambda many: text_of(lambda _: False, many), 1500)


def test_connections_of_forgotten_ones_are_nobodys() -> None:
    def channel(nranks_line: str) -> str:
        return f"srv1:100:100 [0] NCCL INFO Channel {nranks_line} : 0[0] -> 1[1] via P2P/IPC\n"

    middle = MANY // 2
    rows = [init(number) + (channel("00/0") if number in {middle, MANY} else "") for number in range(1, MANY + 1)]
    for number, ours in ((middle, False), (MANY, True)):
        text = "".join(row if at == number else init(at) for at, row in enumerate(rows, 1))
        ranks = [o.fields for o in scanned(text).finish().observations if o.entity == "Rank"]
        (edge,) = [one for fields in ranks for one in fields.get("connections", [])]
        assert (edge.get("communicator") == f"0x{number:x}") is ours
        assert ("communicator" in edge) is ours
