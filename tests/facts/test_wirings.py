"""Which ranks are connected, by communicator: from logs of three releases, whole, cut, and of one rank alone."""

from __future__ import annotations

import pytest
import wired_logs
from wired_logs import FORMS, HOSTS, NET, Form

from ncdiag.facts.model import Job, Wire, Wiring
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.wiring import wirings
from ncdiag.parsers.nccl_log.wiring import CONNECTIONS_LIMIT
from ncdiag.text.reading.job import job_of
from ncdiag.text.reading.one import read_source
from ncdiag.text.sources.files import TextSource


def job(*logs: list[str]) -> Job:
    texts = ["".join(f"{line}\n" for line in lines).encode() for lines in logs]
    return job_of([read_source(TextSource.of_bytes(f"{n}.log", text)) for n, text in enumerate(texts)])


def wired(*logs: list[str]) -> tuple[Wiring, ...]:
    found = job(*logs)
    return wirings(found, View(found))


def pairs(one: Wiring) -> dict[tuple[int, int], Wire]:
    return {(wire.source, wire.target): wire for wire in one.wires}


@pytest.mark.parametrize("form", FORMS)
def test_the_job_is_wired_as_its_ranks_say(form: Form) -> None:
    world = wired(wired_logs.log(form))[0]
    inside = "P2P/CUMEM" if form == "2.27" else "P2P/IPC"
    assert (world.nranks, world.mixed) == (4, False)
    assert world.communicator == (None if form == "2.10" else "0xc0de40")
    assert pairs(world) == {
        (0, 1): Wire(0, 1, HOSTS[0], HOSTS[0], {inside: 4 if form == "2.10" else 2}),  # one thread says it of two
        (1, 3): Wire(1, 3, HOSTS[0], HOSTS[1], {NET: 2}, {NET: 2}, (1,), (1,)),
        (3, 2): Wire(3, 2, HOSTS[1], HOSTS[1], {inside: 2}),
        (2, 0): Wire(2, 0, HOSTS[1], HOSTS[0], {NET: 2}, {NET: 2}, (0,), (0,)),
    }
    (ring,) = world.rings
    assert (ring.order, ring.channel, ring.channels, ring.whole) == (wired_logs.RING, 0, 2, True)


@pytest.mark.parametrize("form", FORMS)
def test_the_second_communicator_of_each_process_is_apart(form: Form) -> None:
    _, *others = wired(wired_logs.log(form))
    if form == "2.10":  # it prints no ids: two communicators of one size are not told apart
        assert [(one.nranks, one.mixed, one.communicator) for one in others] == [(2, True, None)]
        return
    found = {one.communicator: {(*pair, wire.source_host) for pair, wire in pairs(one).items()} for one in others}
    assert found == {
        f"0xc0de2{place}": {(0, 1, host), (1, 0, host)} for place, host in enumerate(HOSTS)
    }  # fmt: skip


def test_ranks_of_several_files_are_put_together() -> None:
    files = [wired_logs.of_rank("2.18", rank) for rank in range(4)]
    assert wired(*files)[0].wires == wired(wired_logs.log("2.18"))[0].wires


@pytest.mark.parametrize("form", FORMS)
def test_a_log_that_is_cut_has_what_was_printed(form: Form) -> None:
    lines = wired_logs.log(form)
    whole = {pair: set(wire.sent) | set(wire.received) for pair, wire in pairs(wired(lines)[0]).items()}
    for begin, end in ((0, len(lines) // 2), (len(lines) // 3, len(lines))):
        for one in wired(lines[begin:end]):
            for pair, wire in pairs(one).items():
                if one.nranks == 4:
                    assert set(wire.sent) | set(wire.received) <= whole[pair]


def test_lines_without_the_set_up_are_of_an_unknown_communicator() -> None:
    lines = [line for line in wired_logs.log("2.18") if " via " in line and "wr01" in line][:6]
    (one,) = wired(lines)
    assert (one.communicator, one.nranks) == (None, None)
    assert pairs(one)[0, 1].source_host == HOSTS[0]


@pytest.mark.parametrize("form", FORMS)
def test_the_lines_of_one_rank(form: Form) -> None:
    world = wired(wired_logs.of_rank(form, 1))[0]
    assert pairs(world) == {(1, 3): Wire(1, 3, HOSTS[0], None, {NET: 2}, {}, (1,))}
    assert world.rings == ()


def place(rank: int, before: int, after: int) -> str:
    return f"wr0{rank // 20 + 1}:{7000 + rank}:{7100 + rank} [0] NCCL INFO Ring 00 : {before} -> {rank} -> {after}"


def begun(rank: int, nranks: int) -> str:
    return (
        f"wr0{rank // 20 + 1}:{7000 + rank}:{7100 + rank} [0] NCCL INFO ncclCommInitRank comm 0x5a0 rank {rank} "
        f"nranks {nranks} cudaDev 0 nvmlDev 0 busId 1b000 commId 0xabc - Init START"
    )


def test_an_order_that_nccl_cuts_goes_on_by_the_neighbours() -> None:
    count = 40
    lines = [begun(rank, count) for rank in range(count)]
    cut = " ".join(f"{rank:2d}" for rank in range(31)) + " 3..."
    lines.append(f"wr01:7000:7100 [0] NCCL INFO Channel 00/01 : {cut}")
    (short,) = wired(lines)[0].rings
    assert (short.order, short.whole) == (tuple(range(31)), False)
    lines += [place(rank, (rank - 1) % count, (rank + 1) % count) for rank in range(count)]
    (ring,) = wired(lines)[0].rings
    assert (ring.order, ring.whole) == (tuple(range(count)), True)


def test_neighbours_of_one_rank_are_a_part_of_a_ring() -> None:
    (ring,) = wired([begun(3, 8), place(3, 2, 7)])[0].rings
    assert (ring.order, ring.channel, ring.whole) == ((2, 3, 7), None, False)


def test_neighbours_that_differ_by_channel_give_no_order() -> None:
    assert wired([begun(3, 8), place(3, 2, 7), place(3, 4, 1)])[0].rings == ()


def test_connections_of_a_process_are_bounded() -> None:
    head = "wr01:7000:7100 [0] NCCL INFO "
    lines = [f"{head}Channel 00/0 : 0[0] -> {peer}[0] [send] via NET/IB/0" for peer in range(1, 2000)]
    (rank,) = job(lines).ranks
    assert len(rank.connections) == CONNECTIONS_LIMIT
    assert rank.transports == {"NET/IB": 1999}
