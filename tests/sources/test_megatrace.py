"""Megatrace's logs: the rank that calls later than its peers is named, and stages, clocks and pauses are no delay."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from ncdiag.diagnose import diagnose
from ncdiag.formats.megatrace import Megatrace
from ncdiag.text.sources import traces
from ncdiag.text.sources.files import open_sources
from ncdiag.text.sources.model import Text

CALLS, STEP = 6000, 0.01
Delay = Callable[[int, float], float]
"""Seconds by which a rank is late for the call at a time, by rank and second."""


def log(
    rank: int, delay: Delay, *, calls: int = CALLS, begin: float = 0.0, pairs: bool = False, named: bool = False
) -> bytes:
    """The calls of one rank, one each 10 ms; the delays of calls differ, as those of a busy GPU do."""
    lines = []
    for number in range(calls):
        second = begin + number * STEP * CALLS / calls
        late = delay(rank, second) * (number % 3) + 0.0002 * ((number + rank) % 5)
        at = f"{1790000000 + second + late:.9f}"
        size = 4096 if number % 7 else 64
        if named:
            lines.append(
                f"[10.0.0.{rank}] [srv{rank // 2}] [save_count 1] [{at}] [Rank {rank}] [PCI 0000:18:00.0] "
                f"[Func ncclAllReduce] [Data {size}] [stream (nil)] [opCount {number}] [groupHash 0x8e5{rank // 4}]"
            )
        else:
            lines.append(
                f"[save_count 1] [{at}] [Rank {rank}] Fun AllReduce Data {size} stream 0x55{rank}0 opCount {number}"
            )
    if pairs:
        lines.append(f"[save_count 1] [1790000001.0] [Rank {rank}] Fun Send Data 1 stream 0x99 opCount 0")
    return ("\n".join(lines) + "\n").encode()


def slow(rank: int, second: float) -> float:
    """Rank 2 is slow in the second half."""
    return 0.004 if rank == 2 and second > 30 else 0.0


def well(_rank: int, _second: float) -> float:
    return 0.0


def judged(folder: Path, logs: list[bytes]) -> list[str]:
    """The titles of what is found in the logs of these ranks."""
    for rank, data in enumerate(logs):
        (folder / f"rank_{rank}.log").write_bytes(data)
    found = diagnose([source for source in open_sources([str(folder)]) if isinstance(source, Text)])
    return [one.title for one in found.findings]


@pytest.mark.parametrize("named", [False, True])
def test_the_slow_rank_is_named(tmp_path: Path, *, named: bool) -> None:
    (title,) = judged(tmp_path, [log(rank, slow, named=named) for rank in range(4)])
    assert title.startswith("Rank 2 is slow: in 10 of 20 equal parts")


def test_a_packed_log_is_read_alike(tmp_path: Path) -> None:
    assert judged(tmp_path, [gzip.compress(log(rank, slow)) for rank in range(4)])[0].startswith("Rank 2 is slow")


def test_the_slow_rank_of_a_stage_is_named(tmp_path: Path) -> None:
    """Ranks 0 and 1 are a stage, 2 and 3 the next one, 50 ms later."""
    logs = [log(rank, slow, begin=0.05 * (rank // 2), pairs=True) for rank in range(4)]
    assert judged(tmp_path, logs)[0].startswith("Rank 2 is slow")


@pytest.mark.parametrize(
    "logs",
    [
        [log(rank, well) for rank in range(4)],
        [log(rank, well, calls=CALLS // (1 + rank // 2), begin=0.05 * (rank // 2), pairs=True) for rank in range(4)],
        [log(rank, well, begin=0.05 * (rank // 2), pairs=True) for rank in range(4)],
        [log(rank, well, begin=0.03 * rank, named=True) for rank in range(4)],
        [log(rank, lambda rank, second: 0.05 * (rank == 1 and 10 < second < 12)) for rank in range(4)],
        [log(rank, lambda rank, second: 0.004 * (rank == (int(second) // 2) % 4)) for rank in range(4)],
        [log(2, slow)],
    ],
    ids=["healthy", "fewer-calls", "stages", "clocks", "a-pause", "in-turn", "one-rank"],
)
def test_other_logs_show_no_slow_rank(tmp_path: Path, logs: list[bytes]) -> None:
    assert judged(tmp_path, logs) == []


def test_a_clock_that_drifts_is_no_delay(tmp_path: Path) -> None:
    logs = []
    for rank in range(4):
        lines = [
            f"[save_count 1] [{1790000000 + number * STEP * (1 + rank / 5000):.9f}] [Rank {rank}] Fun AllReduce Data 1 "
            f"stream 0x55 opCount {number}"
            for number in range(CALLS)
        ]
        logs.append("\n".join(lines).encode())
    assert judged(tmp_path, logs) == []


def test_a_summary_does_not_depend_on_the_pieces_and_stays_short() -> None:
    data = log(0, well, calls=50_000)
    whole = traces.summary([data])
    assert traces.summary(data[at : at + 999] for at in range(0, len(data), 999)) == whole
    assert len(whole) < 1 << 16


def test_memory_is_bounded_over_all_ranks() -> None:
    read = Megatrace()
    for number in range(3):
        for rank in range(5000):
            read.read(f"[save_count 1] [1790000000.1] [Rank {rank}] Fun AllReduce Data 1 stream 0x5 opCount {number}")
    assert len(read.summaries()) == 4096


@pytest.mark.parametrize("line", ["[save_count 1]", "[save_count 1] [1790000000.1] [Rank x] Fun A Data 1", "hello"])
def test_other_lines_are_not_read(line: str) -> None:
    assert not Megatrace().read(line)
