"""Communicators that were split from others: the same one for all its ranks, with its parent and who did not finish."""

from __future__ import annotations

from collections.abc import Iterator

from ncdiag.facts.model import Communicator
from ncdiag.text.reading.job import job_of
from ncdiag.text.reading.one import read_source
from ncdiag.text.sources.files import TextSource

WORLD = "0xabc123"


def init(rank: int, pointer: int, place: str, of: str, state: str, host: str = "srv1") -> str:
    """A line of an Init; ``place``: ``rank 0 nranks 4``."""
    blank = "" if state == "START" and "parent" in of else " "
    return (
        f"{host}:{100 + rank}:{100 + rank} [{rank}] NCCL INFO ncclCommInit comm 0x{pointer:x} {place} cudaDev {rank} "
        f"nvmlDev {rank} busId 1b000 {of}{blank}- Init {state}\n"
    )


def job_lines(count: str = "splitCount", *, finishes: bool = True) -> Iterator[str]:
    """Four ranks on two hosts, split into two pairs, and the second pair once more into single ranks."""
    for state in ("START", "COMPLETE"):
        for rank in range(4):
            yield init(rank, 0x5000 + rank, f"rank {rank} nranks 4", f"commId {WORLD}", state, f"srv{rank // 2}")
    for state in ("START", "COMPLETE"):
        for rank in range(4):
            if rank != 3 or state == "START" or finishes:
                of = f"parent 0x{0x5000 + rank:x} {count} 12 color {rank // 2} key {rank}"
                yield init(rank, 0x6000 + rank, f"rank {rank % 2} nranks 2", of, state, f"srv{rank // 2}")
    if finishes:
        for rank in (2, 3):
            of = f"parent 0x{0x6000 + rank:x} {count} 1 color {rank} key 0"
            for state in ("START", "COMPLETE"):
                yield init(rank, 0x7000 + rank, "rank 0 nranks 1", of, state, "srv1")


def communicators(*texts: str) -> dict[str, Communicator]:
    readings = [read_source(TextSource.of_bytes(f"{n}.log", text.encode())) for n, text in enumerate(texts)]
    return {found.id: found for found in job_of(readings, []).communicators}


def test_a_split_is_one_communicator_of_all_its_ranks() -> None:
    for count in ("splitCount", "childCount"):
        found = communicators("".join(job_lines(count)))
        assert {name: (one.nranks, one.parent, one.ranks_ready) for name, one in found.items()} == {
            WORLD: (4, None, (0, 1, 2, 3)),
            f"{WORLD}/12.0": (2, WORLD, (0, 1)), f"{WORLD}/12.1": (2, WORLD, (0, 1)),
            f"{WORLD}/12.1/1.2": (1, f"{WORLD}/12.1", (0,)), f"{WORLD}/12.1/1.3": (1, f"{WORLD}/12.1", (0,)),
        }  # fmt: skip


def test_it_is_the_same_in_one_file_a_rank() -> None:
    lines = list(job_lines(finishes=False))
    files = ["".join(line for line in lines if f"[{rank}]" in line) for rank in range(4)]
    together = communicators("".join(lines))
    apart = communicators(*files)
    assert {name: (one.ranks_started, one.ranks_ready, one.open_on) for name, one in apart.items()} == {
        name: (one.ranks_started, one.ranks_ready, one.open_on) for name, one in together.items()
    }
    open_one = together[f"{WORLD}/12.1"]
    assert (open_one.ranks_started, open_one.ranks_ready, open_one.open_on) == ((0, 1), (0,), {"1": "srv1"})
    assert together[f"{WORLD}/12.0"].open_on == {}


def test_a_pointer_that_is_used_again_names_the_later_parent() -> None:
    first = init(0, 0x5000, "rank 0 nranks 1", "commId 0x1", "START")
    later = init(0, 0x5000, "rank 0 nranks 1", "commId 0x2", "START")
    child = init(0, 0x6000, "rank 0 nranks 1", "parent 0x5000 splitCount 1 color 0 key 0", "START")
    again = init(0, 0x7000, "rank 0 nranks 1", "parent 0x5000 splitCount 1 color 0 key 0", "START")
    assert list(communicators(first + child + later + again)) == ["0x1", "0x1/1.0", "0x2", "0x2/1.0"]


def test_a_split_of_an_unknown_parent_is_not_named() -> None:
    line = init(0, 0x6000, "rank 0 nranks 2", "parent 0x5000 splitCount 1 color 0 key 0", "START")
    assert communicators(line) == {}
