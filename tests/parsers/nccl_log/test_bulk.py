# ruff: noqa: E501  (log lines are as long as they are)
"""Lines taken apart in bulk, and what is remembered of lines that come again."""

from __future__ import annotations

import pytest

from ncdiag.parsers.nccl_log import Repeats, Scanner, bulk

BEFORE = b"n1:9:12 [0] NCCL INFO "
LINK = b"Channel 00/0 : 0[0] -> 1[1] via P2P/IPC"
CALL = b"AllReduce: opCount 1f sendbuff 0x7f00 recvbuff 0x7f10 count 4 datatype 7 op 0 root 0 comm 0x5a0 [nranks=2] stream 0x5d0"


def fields(*lines: bytes, words: int = 0) -> list[bulk.Fields]:
    return bulk.fields(b"".join(b"\n" + line for line in lines), lines, words)


def test_what_is_counted_of_a_line() -> None:
    process = b"n1:9:12 [0]"
    assert fields(BEFORE + LINK, BEFORE + CALL, BEFORE + b"Trees [0] -1/-1/-1->0->1", b"hello") == [
        (process, b"0[0] -> 1[1] via P2P/IPC", b"", b"", b""),
        (process, b"", b"AllReduce", b"4 datatype 7", b"0x5a0 [nranks=2]"),
        (process, b"", b"", b"", b""),
        (b"", b"", b"", b"", b""),
    ]


@pytest.mark.parametrize("torn_at", [b" sendbuff", b"f00 recvbuff", b" datatype", b"x5a0", b" stream"])
def test_a_torn_call_is_not_one_with_the_line_behind_it(torn_at: bytes) -> None:
    first, rest = CALL.split(torn_at)
    found = fields(BEFORE + first, torn_at + rest, BEFORE + LINK)
    assert len(found) == 3
    assert found[2][1] == b"0[0] -> 1[1] via P2P/IPC"


def test_a_torn_call_does_not_shift_the_numbers_of_lines() -> None:
    torn = BEFORE + CALL.replace(b"0x7f00 ", b"0x7f00\n")
    scanner = Scanner("job.log")
    others = scanner.feed(torn + b"\n" + BEFORE + LINK + b"\nhello\n" + BEFORE + CALL + b"\n")
    assert others[-1] == (4, b"hello")
    last = [o.span.line for o in scanner.finish().observations if "last_ops" in o.fields]
    assert last == [5]


def test_words_of_a_launcher_are_learnt_from_the_lines() -> None:
    lines = [b"2025-01-01T00:00:00Z stdout F " + BEFORE + LINK] * 9
    assert bulk.words_before(lines) == 3
    assert fields(*lines, words=3)[0] == next(bulk.anywhere(lines[0])) == fields(BEFORE + LINK)[0]


def test_lines_that_come_again_are_known_with_what_is_counted_of_them() -> None:
    repeats, lines, keys = Repeats(), [b"a", b"b", b"told"], [b"1", b"2", b"3"]
    assert repeats.keys(lines) is None
    repeats.learn(lines, keys, telling=[2])
    assert repeats.keys([b"b", b"a", b"b", b"told"]) == [b"2", b"1", b"2", None]


def test_a_log_without_equal_lines_is_given_up_and_tried_again() -> None:
    repeats = Repeats()
    taken = [repeats.paused() or repeats.keys([b"%d" % number]) for number in range(200)]
    assert 5 <= taken.count(None) < 60
    assert None in taken[100:]


def test_pieces_of_a_buffer_are_as_one() -> None:
    line = BEFORE + b"Channel %02d/0 : 0[0] -> 1[1] via P2P/IPC\n"
    scanner = Scanner("job.log")
    others = scanner.feed(b"".join(line % (number % 32) for number in range(9000)) + b"the end\n")
    assert others == [(9001, b"the end")]
    counts = [o.fields["transports"] for o in scanner.finish().observations if "transports" in o.fields]
    assert counts == [{"P2P/IPC": 9000}]
