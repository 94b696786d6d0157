"""The pictures of who is joined with whom, of rings and of rails: right, in words as well, small, and never markup."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
import wired_logs
from pages import Reader, assert_harmless
from wired_logs import FORMS, Form

from ncdiag import diagnose
from ncdiag.language import speaking
from ncdiag.report import renderer
from ncdiag.text.sources.files import TextSource

MOST = 1_000_000


def page(lines: Iterable[str], language: str = "en") -> Reader:
    text = "".join(f"{line}\n" for line in lines).encode()
    with speaking(language):
        options = diagnose.Options(language=language)
        found = diagnose.diagnosed([TextSource.of_bytes("job.log", text)], options)
        written = renderer("html")(found.report, view=found.view)
    assert len(written) < MOST
    return Reader(written)


def shown(read: Reader) -> str:
    return " ".join(read.text.split())


@pytest.mark.parametrize("form", FORMS)
def test_hosts_ranks_and_the_ring_are_drawn_and_told_in_words(form: Form) -> None:
    read = page(wired_logs.log(form))
    inside = "P2P/CUMEM" if form == "2.27" else "P2P/IPC"
    text = shown(read)
    for words in (
        "Which ranks are connected", "NET/IB/GDRDMA, 2 pairs: 1 to 3, 2 to 0; 2 Channel lines each.",
        f"{inside}, 2 pairs: 0 to 1, 3 to 2", "channel 0 and 1 more: rank 0 (wr01)",
        "rank 1 (wr01) by NET/IB/GDRDMA, NIC 1 to rank 3 (wr02)", "back to rank 0.", "1 wr01", "2 wr02",
    ):  # fmt: skip
        assert words in text, words
    about = set(read.values("title"))
    assert "rank 1 (wr01) to rank 3 (wr02): NET/IB/GDRDMA" in about
    assert "wr01 to wr02: NET/IB/GDRDMA" in about
    assert ("The log does not distinguish the communicators of this size." in text) == (form == "2.10")


def test_communicators_that_look_alike_are_drawn_once() -> None:
    assert "2 communicators with the same pattern, each of 2 ranks" in shown(page(wired_logs.log("2.18")))


def test_rails_that_meet() -> None:
    assert "the same NIC at both ends: one rail" in shown(page(wired_logs.log("2.27")))
    assert "data crosses between rails" not in shown(page(wired_logs.log("2.27")))


def test_rails_that_cross() -> None:
    crossed = [
        line.replace("NET/IB/1", "NET/IB/0") if "7003" in line and "[receive]" in line else line
        for line in wired_logs.log("2.18")
    ]
    assert "different NICs: data crosses between rails" in shown(page(crossed))


def test_gdr_at_one_end_only_is_seen() -> None:
    lines = [line.replace("/GDRDMA", "") if "[receive]" in line else line for line in wired_logs.log("2.18")]
    read = page(lines)
    assert "rank 1 (wr01) to rank 3 (wr02): NET/IB, NET/IB/GDRDMA" in read.values("title")
    assert "several of these, or GPUDirect RDMA on one side only" in shown(read)


def test_two_that_are_joined_and_differ_are_marked() -> None:
    lines = wired_logs.log("2.18")
    heads = {rank: next(line for line in lines if f":{7000 + rank}:" in line).split("NCCL INFO")[0] for rank in (1, 3)}
    lines += [
        f"{head}NCCL INFO NCCL_ALGO set by environment to {'Ring' if n == 1 else 'Tree'}" for n, head in heads.items()
    ]
    read = page(lines)
    assert "rank 1 (wr01) to rank 3 (wr02): NET/IB/GDRDMA; they differ in NCCL_ALGO" in read.values("title")


def test_one_rank_alone_and_a_log_that_is_cut() -> None:
    assert "NET/IB/GDRDMA, 1 pair: 1 to 3" in shown(page(wired_logs.of_rank("2.27", 1)))
    lines = wired_logs.log("2.18")
    assert "Which ranks are connected" in shown(page(lines[len(lines) // 2 :]))


def started(rank: int, nranks: int, host: str) -> tuple[str, str]:
    head = f"{host}:{7000 + rank}:{7000 + rank} [{rank % 8}] NCCL INFO "
    init = f"comm 0x5a0 rank {rank} nranks {nranks} cudaDev {rank % 8} nvmlDev {rank % 8} busId {rank % 8 + 1}b000"
    return head, f"{head}{init} commId 0xabc - Init START"


def all_to_all(nranks: int, *, neighbours: int | None = None) -> Iterable[str]:
    """The lines of a job of hosts of eight ranks in which each sends to all, or to so many after it."""
    for rank in range(nranks):
        head, begin = started(rank, nranks, f"big{rank // 8:03d}")
        yield begin
        for step in range(1, (neighbours or nranks - 1) + 1):
            peer = (rank + step) % nranks
            way = "via P2P/IPC" if peer // 8 == rank // 8 else f"[send] via NET/IB/{rank % 8}/GDRDMA"
            yield f"{head}Channel 00/0 : {rank}[{rank % 8}] -> {peer}[{peer % 8}] {way}"


def test_hosts_have_the_rows_of_many_ranks() -> None:
    read = page(all_to_all(320, neighbours=9))
    assert "1 big[000-001]" in shown(read)
    assert "20 big[038-039]" in shown(read)
    assert not any("rank 8 (big001) to" in text for text in read.values("title"))


def test_all_to_all_of_ranks_that_still_have_a_row_each() -> None:
    read = page(all_to_all(64))
    assert "rank 63 (big007) to rank 0 (big000): NET/IB/GDRDMA" in read.values("title")


def test_names_of_the_log_stay_text() -> None:
    lines = [line.replace("NET/IB", 'NET/<b onclick="x">&') for line in wired_logs.log("2.18")]
    read = page(lines)
    assert_harmless(read, set())
    assert 'NET/<b onclick="x">&/GDRDMA' in read.text


def test_in_chinese() -> None:
    text = shown(page(wired_logs.log("2.27"), "zh"))
    for words in (
        "谁与谁相连",
        "4 个 rank 的通信域",
        "2 个通信域相同，各有 2 个 rank",
        "回到 rank 0",
        "连接两端的网卡",
    ):
        assert words in text, words
