"""Wrapped pastes: rejoined where they were wrapped, left alone where they were not."""

from __future__ import annotations

import textwrap
from collections.abc import Callable

import pytest
from linear import assert_linear_time

from ncdiag.text.reading.one import read_source
from ncdiag.text.sections.line import lines_of
from ncdiag.text.sections.unwrap import Reach, guesses, joined
from ncdiag.text.sources.files import TextSource

AT = "gpu-a01:2201:2201 [0]"
LOG = [
    f"{AT} NCCL INFO Bootstrap : Using eno1:172.18.40.41<0>",
    f"{AT} NCCL INFO NET/Socket : Using [0]eno1:172.18.40.41<0> [1]veth25f2e72:fe80::68bd:41ff:fe07:9c12%veth2<0>",
    f"{AT} NCCL INFO NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_1:1/RoCE [2]mlx5_2:1/RoCE ; OOB eno1:172.18.40.41<0>",
    f"{AT} include/socket.h:403 NCCL WARN Connect to fe80::a480:7fff:fecf:1ed9<41873> failed : Network is unreachable",
    f"{AT} NCCL INFO transport/net_socket.cc:329 -> 2",
    "a line of the program that is short",
]
LINK = "{n}: eth{n}: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 9000 qdisc mq state UP mode DEFAULT group default qlen 1000"
LINKS = [LINK.format(n=n) for n in range(1, 7)]
WATCHDOG = [
    "[rank3]:[E314 11:20:08.123456789 ProcessGroupNCCL.cpp:616] [Rank 3] Watchdog caught collective operation timeout: "
    f"WorkNCCL(SeqNum={number}, OpType=ALLREDUCE, NumelIn=1024, NumelOut=1024, Timeout(ms)=600000) ran for 600012 "
    "milliseconds before timing out."
    for number in (57, 58, 59)
]


def hard(lines: list[str], width: int) -> str:
    return "".join(f"{line[i : i + width]}\n" for line in lines for i in range(0, len(line), width))


def soft(lines: list[str], width: int) -> str:
    return "".join(
        f"{part}\n"
        for line in lines
        for part in textwrap.wrap(line, width, break_long_words=False, break_on_hyphens=False)
    )


Observed = list[tuple[object, ...]]


def observed(text: str) -> Observed:
    reading = read_source(TextSource.of_bytes("paste.txt", text.encode()))
    return [
        (
            found.entity,
            found.key,
            {name: value for name, value in found.fields.items() if name not in {"order", "text"}},
        )
        for found in reading.observations
    ]


@pytest.mark.parametrize("width", [60, 72, 80, 100, 117])
@pytest.mark.parametrize("wrap", [hard, soft])
@pytest.mark.parametrize("lines", [LOG, WATCHDOG], ids=["NCCL", "watchdog"])
def test_wrapped_lines_come_together(lines: list[str], wrap: Callable[[list[str], int], str], width: int) -> None:
    assert observed(wrap(lines, width)) == observed("".join(f"{line}\n" for line in lines))


@pytest.mark.parametrize("width", [60, 80, 100])
def test_output_of_other_programs_is_read_through_the_width_of_a_terminal(width: int) -> None:
    whole = observed("".join(f"{line}\n" for line in LINKS))
    assert len(whole) == len(LINKS)
    assert observed(hard(LINKS, width)) == whole


COMPLETION = [
    f"{AT} transport/net_ib.cc:1310 NCCL WARN NET/IB : Got completion from peer 10.7.1.9<40211>",
    "with status=12 opcode=0 len=0 vendor err 129 (Send)",
    "localGid fe80::1a2b:3c4d",
    "remoteGid fe80::1a2b:3c99",
]


@pytest.mark.parametrize("indent", ["  ", "        ", "\t"])
def test_a_message_that_somebody_broke_with_an_indent_is_read_whole(indent: str) -> None:
    broken = f"\n{indent}".join(COMPLETION)
    reading = read_source(TextSource.of_bytes("paste.txt", f"{broken}\n".encode()))
    gids = [found.fields["gids_used"] for found in reading.observations if "gids_used" in found.fields]
    assert gids == [[{"local_gid": "fe80::1a2b:3c4d", "remote_gid": "fe80::1a2b:3c99"}]]


def test_indented_lines_of_a_program_are_no_part_of_a_message() -> None:
    lines = [LOG[0], "  epoch 3 loss 2.113", "  epoch 4 loss 2.001", LOG[2], "    saved model.pt"]
    text = "".join(f"{line}\n" for line in lines)
    assert observed(text) == observed(text.replace("\n  ", "\n").replace("\n  ", "\n"))


def test_a_joined_line_has_the_number_of_its_beginning() -> None:
    text = hard(LOG, 80)
    numbers = {number: line for number, line in enumerate(text.split("\n"), 1) if line.startswith("gpu-a01:")}
    spans = [found.span for found in read_source(TextSource.of_bytes("paste.txt", text.encode())).observations]
    assert {span.line for span in spans} <= set(numbers)
    assert all(span.text.startswith(numbers[span.line]) for span in spans)


def reads_as_it_stands(lines: list[str]) -> bool:
    """True if no line is joined: each says in the text what it says between lines that say nothing."""
    apart = observed("".join(f"{line}\n\n" for line in lines))
    return observed("".join(f"{line}\n" for line in lines)) == apart


def test_a_log_that_is_not_wrapped_is_left_alone() -> None:
    assert reads_as_it_stands(LOG)


def test_lines_of_equal_length_are_no_wrapping() -> None:
    assert reads_as_it_stands(["node1:100:100 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/IPC/read   "] * 50)
    rows = [f"mlx5_{n:<60} 16777216 Live" for n in range(4)]
    assert reads_as_it_stands(["Module                  Size  Used by", *rows])


@pytest.mark.parametrize("label", ["{n}: ", "{n:3d}: ", "[1,{n}]<stderr>:", "[rank{n}]: ", "worker-{n}  | "])
@pytest.mark.parametrize("ranks", [2, 4, 8, 64])
def test_the_line_of_each_rank_is_no_part_of_another(label: str, ranks: int) -> None:
    line = "[1700000000.000001] [n1:40:0] sock.c:344  UCX  ERROR connect(fd=61, dest_addr=10.1.2.3:40000) failed: \
No route to host"
    text = "".join(f"{label.format(n=n)}{line}\n" for n in range(ranks))
    seen = [each for each in observed(text) if "ucx-connect-failed" in str(each)]
    assert len(seen) == ranks


def test_rows_of_numbers_may_go_on_in_another_row() -> None:
    numbers = " ".join(str(n) for n in range(10, 99))
    parts = lines_of(hard([f"ranks {numbers}"], 60))
    assert any(line.text == f"ranks {numbers}" for wholes, _ in guesses(parts) for _, _, line in wholes)


def test_a_line_of_syslog_without_a_date_is_not_the_rest_of_another() -> None:
    first = "nv-fabricmanager[1811]: request to query NVSwitch device information from NVSwitch driver failed with"
    second = "systemd[1]: nvidia-fabricmanager.service: Failed with result 'exit-code'."
    assert reads_as_it_stands([f"{first} error:WARNING Nothing to do [NV_WARN_NOTHING_TO_DO]", second])


@pytest.mark.parametrize("below", ["Terminated", "make: *** [Makefile:12: train] Error 1", "done"])
def test_one_long_line_does_not_go_on_in_the_next(below: str) -> None:
    assert reads_as_it_stands(["Failed to get IB devices list: Function not implemented", below])


def test_what_a_program_prints_between_lines_of_nccl_is_not_swallowed() -> None:
    finished = "gpu-a01:2201:2201 [0] NCCL INFO comm 0x1{n}f rank 0 nranks 16 cudaDev 0 busId 1b000 - Init COMPLETE"
    lines = [line for n in range(8) for line in (finished.format(n=n), f"step {n} loss 0.5", LOG[0], LOG[4])]
    assert reads_as_it_stands(lines)


def test_a_width_is_looked_at_where_nearly_all_lines_of_it_go_on() -> None:
    broken = lines_of(hard(LINKS, 80))
    (wholes, reach), *_ = guesses(broken)
    assert reach is Reach.EXACT
    assert [line.text for line in joined(broken, wholes)] == LINKS
    started = lines_of("".join(f"{AT} NCCL INFO Using network IB{n:50}\n" for n in range(9)))
    assert all(not wholes for wholes, _ in guesses(started))


def test_places_that_overlap_are_joined_once() -> None:
    lines = lines_of("a\nb\nc\n")
    result = joined(lines, [(0, 2, lines[0]), (1, 3, lines[1])])
    assert [line.text for line in result] == ["a", "c"]


@pytest.mark.parametrize("line", ["x" * 80, f"{AT} NCCL INFO {'y' * 40}", "word " * 15])
def test_many_lines_take_linear_time(line: str) -> None:
    assert_linear_time(lambda text: list(guesses(lines_of(text))), lambda size: f"{line}\n" * size, 500)
