"""Marks on every line of a paste that can be nothing else are taken off; what only looks like them stays."""

from __future__ import annotations

import pytest
from linear import assert_linear_time

from ncdiag.text.sections.frames import stripped
from ncdiag.text.sections.line import lines_of
from ncdiag.text.sections.markup import tidied

TEXT = "CA 'mlx5_0'\n\tCA type: MT4129\n\n\tPort 1:\n\t\tState: Active\n\t\tRate: 400\n"
LINES = TEXT.split("\n")[:-1]


def bare(text: str) -> str:
    return "".join(f"{line.text}\n" for line in stripped(lines_of(text)))


def numbered(form: str, first: int = 1) -> str:
    return "".join(form % number + line + "\n" for number, line in enumerate(LINES, first))


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
        "".join(f"| {line}\n" for line in LINES),
        "".join(f"\u2502 {line}\n" for line in LINES),
        "".join(f"> {line}\n" for line in LINES),
        "".join(f"> > {line}\n" for line in LINES),
        "".join(f"{number}:> {line}\n" for number, line in enumerate(LINES, 1)),
        "".join(f"> {number:6d}\t{line}\n" for number, line in enumerate(LINES, 1)),
    ],
)
def test_marks_on_every_line_are_taken_off(dressed: str) -> None:
    assert bare(dressed) == TEXT


def test_text_around_numbered_lines_stays_and_so_do_the_numbers_of_lines() -> None:
    text = "I ran cat -n:\n" + numbered("%6d\t") + "Any idea?\n"
    assert bare(text) == "I ran cat -n:\n" + TEXT + "Any idea?\n"
    assert [line.number for line in stripped(lines_of(text))] == list(range(1, text.count("\n") + 1))


PROCESSES = "".join(f"{4711 + rank:7} T    do_signal_stop                   python train.py\n" for rank in range(8))


@pytest.mark.parametrize(
    "table",
    [
        "    PID STAT WCHAN                            CMD\n" + PROCESSES,
        PROCESSES,
        "  JOBID PARTITION     NAME     USER ST       TIME  NODES\n"
        + "".join(f"{8100 + job:7} gpu       train{job} amy  R       1:02      2\n" for job in range(6)),
        " rank host step\n" + "".join(f"    {rank} n{rank}   120\n" for rank in range(1, 7)),
        "rank\thost\tstep\n" + "".join(f"{rank}\tn{rank}\t120\n" for rank in range(1, 7)),
    ],
)
def test_a_column_of_numbers_that_follow_each_other_stays(table: str) -> None:
    assert bare(table) == table


def test_a_table_with_line_numbers_loses_these_only() -> None:
    table = "    PID STAT WCHAN                            CMD\n" + PROCESSES
    dressed = "".join(f"{number:6d}\t{line}\n" for number, line in enumerate(table.splitlines(), 1))
    assert bare(dressed) == table
    blanks = "".join(f"{number:4d} {line}\n" for number, line in enumerate(PROCESSES.splitlines(), 1))
    assert bare(blanks).split() == PROCESSES.split()


def test_a_grep_of_a_named_file_leaves_lines_out() -> None:
    assert bare("a/x.txt:3:State: Down\na/x.txt:40:State: Up\n--\na/x.txt:90:Rate: 1\n").count("x.txt") == 3
    text = "".join(f"a/x.txt:{number}:line\n" for number in (3, 9, 12, 40, 41))
    assert bare(text) == "line\n" * 5


@pytest.mark.parametrize(
    "text",
    [
        "0: lo\n1: eth0\n2: eth1\n3: eth2\n4: eth3\n5: eth4\n",  # labels of ranks begin with 0
        "1: lo    inet 127.0.0.1/8\n2: eth0    inet 10.0.0.4/24\n3: eth1    inet 10.0.1.4/24\n",  # ip -o
        "10:00.0 VGA\n11:00.0 VGA\n12:00.0 VGA\n13:00.0 VGA\n14:00.0 VGA\n15:00.0 VGA\n",  # lspci
        "".join(f"gpu1:{100 + n}:{200 + n} [{n}] NCCL INFO x\n" for n in range(1, 6)),
        "".join(f"n1.example:{100 + n}:{200 + n} [{n}] NCCL INFO x\n" for n in range(1, 6)),
        "    7   1\n    9   1\n   12   1\n   40   1\n   41   1\n",
        "| GPU | Temp |\n| 0 | 40 |\n| 1 | 41 |\n| 2 | 42 |\n",
        "2048 float\n4096 float\n8192 float\n",
        TEXT,
    ],
)
def test_what_looks_like_a_mark_stays(text: str) -> None:
    assert bare(text) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mlx5_0 port 1 ==&gt; eth0 (Up)\n", "mlx5_0 port 1 ==> eth0 (Up)\n"),
        ("CA \u2018mlx5_0\u2019\n", "CA 'mlx5_0'\n"),
        ("export A=\u201cb c\u201d\n", 'export A="b c"\n'),
        ("State:\u2003Active\u200b\n", "State: Active\n"),
        ("Gr\u00f6\u00dfe \u70b9\n", "Gr\u00f6\u00dfe \u70b9\n"),
        ('<cpu name="a &lt; b"/>\n', '<cpu name="a &lt; b"/>\n'),
    ],
)
def test_what_web_pages_make_of_characters(text: str, expected: str) -> None:
    assert tidied(text) == expected


@pytest.mark.parametrize(
    ("piece", "times"),
    [(" ", 15_000), ("1", 15_000), ("a/", 240_000), ("a.", 15_000), ("|", 15_000), (">", 15_000)],  # some take no time
)
def test_long_lines_take_linear_time(piece: str, times: int) -> None:
    assert_linear_time(bare, lambda size: "\n".join([piece * size] * 2), times)
    assert_linear_time(bare, lambda size: "\n".join([piece * 25] * size), 1000)
