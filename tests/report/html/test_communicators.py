"""The communicators of a job in the pictures of the page: the table, and the bars of the timeline."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pages import Reader

from ncdiag import diagnose
from ncdiag.report.html.context import Context
from ncdiag.report.html.element import write
from ncdiag.report.html.pictures import communicators, setups, timeline
from ncdiag.text.sources.files import TextSource


def job(number: int, *, finishes: bool = True, times: bool = True, ahead: int = 0) -> str:
    """A communicator of four ranks on two hosts, begun in minute ``number``; the clock of one may be ``ahead``."""
    return "".join(lines(number, finishes=finishes, times=times, ahead=ahead))


def lines(number: int, *, finishes: bool, times: bool, ahead: int) -> Iterator[str]:
    steps = (
        f"commId 0x{number} - Init START",
        "nNodes 2 localRanks 2 localRank 0 MNNVL 0",
        f"commId 0x{number} - Init COMPLETE",
    )
    for second, step in enumerate(steps):
        for rank in range(4):
            seconds = 60 * number + 10 * second + (ahead if rank > 1 else 0)
            stamp = f"[2026-05-03 03:{seconds // 60:02}:{seconds % 60:02}] " if times else ""
            place = "cudaDev 0 nvmlDev 0 busId 1b000 " if "commId" in step else ""
            if finishes or rank != 3 or second < 2:
                yield (
                    f"{stamp}srv{rank // 2}:{100 + rank}:{100 + rank} [0] NCCL INFO comm 0x{16 * number + rank:x} "
                    f"rank {rank} n{'r' if place else 'R'}anks 4 {place}{step}\n"
                )


def drawn(text: str) -> tuple[Reader | None, Reader | None, list[setups.Bar]]:
    """The timeline and the table."""
    found = diagnose.diagnosed([TextSource.of_bytes("job.log", text.encode())])
    pictures = [one.draw(found.view, Context(found.report)) for one in (timeline, communicators)]
    bars = setups.bars(found.view)
    line, table = (None if one is None else Reader(write(one)) for one in pictures)
    return line, table, bars


def test_an_open_one_is_a_bar_to_the_end() -> None:
    line, table, bars = drawn(job(1) + job(2, finishes=False) + job(3))
    assert line is not None
    assert table is not None
    missing = "rank 3 of 4 on srv1 never finished"
    first, second, third = bars
    assert (second.name, second.end, second.text) == ("0x2", None, missing)
    assert first.end is not None
    assert first.end - first.begin == 20
    assert third.begin - first.begin == 120
    shown = " ".join(line.text.split())
    assert f"0x2: {missing}." in shown
    assert "0x1: complete on ranks 0-3 of 4." in shown
    assert "setup of a communicator that is not complete" in shown
    rows = " ".join(table.text.split())
    assert "2 of 3 communicators are complete." in rows
    assert f"2 0x2 4 0-2 {missing}" in rows
    kinds = [tag.attributes["class"] for tag in line.of("rect")]
    assert (kinds.count("mark formed"), kinds.count("mark open")) == (2, 1)


def test_complete_ones_alone_are_no_timeline() -> None:
    line, table, bars = drawn(job(1) + job(2))
    assert line is None
    assert table is not None
    assert [bar.kind for bar in bars] == ["formed", "formed"]


@pytest.mark.parametrize(("times", "ahead"), [(False, 0), (True, 900)], ids=["no times", "clocks are apart"])
def test_without_comparable_times_there_are_no_bars(times: bool, ahead: int) -> None:
    assert drawn(job(1, finishes=False, times=times, ahead=ahead))[2] == []
    assert drawn(job(1, finishes=False))[2] != []


def test_of_many_the_open_ones_are_drawn() -> None:
    text = "".join(job(number, finishes=number != 49) for number in range(1, 50))
    bars = drawn(text)[2]
    assert len(bars) == setups.BARS
    assert [bar.name for bar in bars if bar.end is None] == ["0x49"]
