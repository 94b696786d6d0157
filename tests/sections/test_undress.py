"""What stands on every line of a paste is taken off; what only looks like it stays."""

from __future__ import annotations

import pytest
from linear import assert_linear

from ncdiag.sections.undress import LIMIT, joined, undressed

TEXT = b"CA 'mlx5_0'\n\tCA type: MT4129\n\n\tPort 1:\n\t\tState: Active\n\t\tRate: 400\n"
LINES = TEXT.split(b"\n")[:-1]


def numbered(form: str, first: int = 1) -> bytes:
    return b"".join((form % number).encode() + line + b"\n" for number, line in enumerate(LINES, first))


@pytest.mark.parametrize(
    "dressed",
    [
        numbered("%6d\t"),
        numbered("%6d\t", first=97),
        numbered("%d\t"),
        numbered("%d:"),
        numbered("%7d "),
        numbered("%3d "),
        numbered("%6d  "),
        numbered(" %4d | "),
        numbered(" %4d \u2502 "),
        numbered("out/n1.log:%d:"),
        numbered("out/n1.log-%d-"),
        b"".join(b"| " + line + b"\n" for line in LINES),
        b"".join("\u2502 ".encode() + line + b"\n" for line in LINES),
    ],
)
def test_marks_on_every_line_are_taken_off(dressed: bytes) -> None:
    assert undressed(dressed) == TEXT


def test_text_around_numbered_lines_stays_and_so_do_the_numbers_of_lines() -> None:
    assert (
        undressed(b"I ran cat -n:\n" + numbered("%6d\t") + b"Any idea?\n") == b"I ran cat -n:\n" + TEXT + b"Any idea?\n"
    )


def test_a_grep_of_a_named_file_leaves_lines_out() -> None:
    assert undressed(b"a/x.txt:3:State: Down\na/x.txt:40:State: Up\n--\na/x.txt:90:Rate: 1\n").count(b"x.txt") == 3
    text = b"".join(b"a/x.txt:%d:line\n" % number for number in (3, 9, 12, 40, 41))
    assert undressed(text) == b"line\n" * 5


@pytest.mark.parametrize(
    "text",
    [
        b"0: lo\n1: eth0\n2: eth1\n3: eth2\n4: eth3\n5: eth4\n",  # labels of ranks begin with 0
        b"1: lo    inet 127.0.0.1/8\n2: eth0    inet 10.0.0.4/24\n3: eth1    inet 10.0.1.4/24\n",  # ip -o
        b"10:00.0 VGA\n11:00.0 VGA\n12:00.0 VGA\n13:00.0 VGA\n14:00.0 VGA\n15:00.0 VGA\n",  # lspci
        (b"gpu1:101:201 [0] NCCL INFO x\ngpu1:102:202 [1] NCCL INFO x\ngpu1:103:203 [2] NCCL INFO x\n"
        b"gpu1:104:204 [3] NCCL INFO x\ngpu1:105:205 [4] NCCL INFO x\n"),
        (b"n1.example:101:201 [0] NCCL INFO x\nn1.example:102:202 [1] NCCL INFO x\nn1.example:103:203 [2] NCCL INFO x\n"
        b"n1.example:104:204 [3] NCCL INFO x\nn1.example:105:205 [4] NCCL INFO x\n"),
        b"    7   1\n    9   1\n   12   1\n   40   1\n   41   1\n",
        b"| GPU | Temp |\n| 0 | 40 |\n| 1 | 41 |\n| 2 | 42 |\n",
        b"2048 float\n4096 float\n8192 float\n",
        b'<system version="1">\n<cpu name="a &lt; b"/>\n</system>\n',
        TEXT,
        b"",
    ],
)  # fmt: skip
def test_what_looks_like_a_mark_stays(text: bytes) -> None:
    assert undressed(text) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"mlx5_0 port 1 ==&gt; eth0 (Up)\n", b"mlx5_0 port 1 ==> eth0 (Up)\n"),
        ("CA \u2018mlx5_0\u2019\n".encode(), b"CA 'mlx5_0'\n"),
        ("export A=\u201cb c\u201d\n".encode(), b'export A="b c"\n'),
        ("State:\u2003Active\u200b\n".encode(), b"State: Active\n"),
        ("Gr\u00f6\u00dfe \u70b9\n".encode(), "Gr\u00f6\u00dfe \u70b9\n".encode()),
    ],
)
def test_what_web_pages_make_of_characters(text: bytes, expected: bytes) -> None:
    assert undressed(text) == expected


def test_short_buffers_become_one_and_long_ones_stay() -> None:
    assert list(joined([b"a\n", b"b\n"])) == [b"a\nb\n"]
    long = b"x\n" * LIMIT
    assert list(joined([b"a\n", long, b"b\n"])) == [b"a\n", long, b"b\n"]
    assert list(joined([])) == []
    assert undressed(numbered("%6d\t") * (LIMIT // 50)).startswith(b"     1\t")


@pytest.mark.parametrize("piece", [b" ", b"1", b"a/", b"a.", b"|"])
def test_long_lines_take_linear_time(piece: bytes) -> None:
    assert_linear(undressed, lambda size: b"\n".join([piece * size] * 2), 15_000)
    assert_linear(undressed, lambda size: b"\n".join([piece * 25] * size), 1000)
