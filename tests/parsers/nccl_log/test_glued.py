"""Lines that hold the messages of two processes."""

from __future__ import annotations

import pytest
from linear import assert_linear_time

from ncdiag.parsers.nccl_log.glued import separated

FIRST = "a-1:4:4 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1]"
SECOND = "[2] NCCL INFO Connected all rings"
ROW = "        1024           256     float     sum      -1"

GLUED: dict[str, list[str]] = {
    "a host that begins another line": [FIRST + " via P2P/newway", f"a-1:5:5 {SECOND}"],
    "a known end": [FIRST + " via P2P/CUMEM", f"b-7:5:5 {SECOND}"],
    "a suffix": [FIRST + " via NET/IB/0/GDRDMA", f"b-7:5:5 {SECOND}"],
    "a rank": [FIRST.removesuffix("[1]"), f"trn:5:5 {SECOND}"],
    "an address": ["a-1:4:4 [0] NCCL INFO Bootstrap: Using eth0:10.0.0.4<0>", f"b-7:5:5 {SECOND}"],
    "a warning with its time": [
        FIRST + " via P2P/IPC",
        "[2026-03-02 04:11:09] b-7:5:5 [1] misc/socket.cc:12 (socketConnect) NCCL WARN socketConnect: connect failed",
    ],
    "a row of nccl-tests": [ROW, f"b-7:5:5 {SECOND}"],
    "a row of nccl-tests, a host that begins another line": [ROW, f"a-1:5:5 {SECOND}"],
    "the first half of a row": [f"{ROW}    30.46    0.00    0.00      0", f"trn:5:5 {SECOND}"],
    "the second half of a row": ["    83.33  100.66  100.66      0", f"a-1:5:5 {SECOND}"],
    "the second half of a row and a host seen nowhere else": ["   1204.5  27.86  52.24      0", f"trn:5:5 {SECOND}"],
    "a row and a time": [ROW, f"[2026-03-02 04:11:09] b-7:5:5 {SECOND}"],
    "a row behind the tag of mpirun": [f"[1,0]<stdout>:{ROW}", f"[1,1]<stdout>:b-7:5:5 {SECOND}"],
    "a row and two lines": [ROW, f"b-7:5:5 {SECOND}", f"a-1:5:5 {SECOND}"],
    "three": [FIRST + " via P2P/IPC", f"b-7:4:4 {SECOND}", f"a-1:6:6 {SECOND}"],
}


@pytest.mark.parametrize("parts", GLUED.values(), ids=GLUED)
def test_parts(parts: list[str]) -> None:
    text = "\n".join(["", FIRST, "", "".join(parts), FIRST])
    found = separated(text.encode(), range(10, 14))
    assert found is not None
    lines, numbers = found
    assert lines.decode().split("\n")[1:] == [FIRST, "", *parts, FIRST]
    assert list(numbers) == [10, 11, *[12] * len(parts), 13]


def test_the_end_of_a_row_begins_no_name_of_a_host() -> None:
    glued = f"    83.33  100.66  100.66      0a-1:5:5 {SECOND}"
    found = separated(f"\n{glued}\n{FIRST}\n{glued}".encode(), range(3))
    assert found is not None
    assert found[0].decode().split("\n").count(f"a-1:5:5 {SECOND}") == 2


@pytest.mark.parametrize(
    "line",
    [
        FIRST,
        "a-1:4:4 [0] NCCL INFO NCCL version 2.27.7+cuda12.9",
        "a-1:4:4 [0] NCCL WARN a message that quotes NCCL INFO within itself",
        "",
    ],
)
def test_lines_of_one_process_stay_whole(line: str) -> None:
    assert separated(f"\n{line}".encode(), [1]) is None


@pytest.mark.parametrize(
    "piece", [b"NCCL INFO ", b"NCCL INFO a:1:1 [0] ", b"a" * 64 + b" NCCL INFO NCCL WARN ", b"a:1:1 "]
)
def test_hostile_lines_take_linear_time(piece: bytes) -> None:
    assert_linear_time(
        lambda text: separated(text, range(4)), lambda size: (b"\n" + piece * size) * 4, 8192 // len(piece)
    )
