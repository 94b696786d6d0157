"""Wrapped pastes: rejoined where they were wrapped, left alone where they were not."""

from __future__ import annotations

import textwrap
from collections.abc import Callable

import pytest

from ncdiag.read import read_source
from ncdiag.sections.unwrap import rejoined, unfolded
from ncdiag.sources.files import TextSource

AT = "gpu-a01:2201:2201 [0]"
LOG = [
    f"{AT} NCCL INFO Bootstrap : Using eno1:172.18.40.41<0>",
    f"{AT} NCCL INFO NET/Socket : Using [0]eno1:172.18.40.41<0> [1]veth25f2e72:fe80::68bd:41ff:fe07:9c12%veth2<0>",
    f"{AT} NCCL INFO NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_1:1/RoCE [2]mlx5_2:1/RoCE ; OOB eno1:172.18.40.41<0>",
    f"{AT} include/socket.h:403 NCCL WARN Connect to fe80::a480:7fff:fecf:1ed9<41873> failed : Network is unreachable",
    f"{AT} NCCL INFO transport/net_socket.cc:329 -> 2",
    "a line of the program that is short",
]


def hard(width: int) -> bytes:
    pieces = [line[i : i + width] for line in LOG for i in range(0, len(line), width)]
    return "\n".join(pieces).encode() + b"\n"


def soft(width: int) -> bytes:
    pieces = [p for line in LOG for p in textwrap.wrap(line, width, break_long_words=False, break_on_hyphens=False)]
    return "\n".join(pieces).encode() + b"\n"


@pytest.mark.parametrize("width", [72, 80, 100])
@pytest.mark.parametrize("wrap", [hard, soft])
def test_wrapped_lines_come_together_and_keep_their_numbers(wrap: Callable[[int], bytes], width: int) -> None:
    text = wrap(width)
    result = rejoined(text)
    assert [line for line in result.decode().split("\n") if line] == LOG
    assert result.count(b"\n") == text.count(b"\n")
    for number, line in enumerate(text.split(b"\n")):
        if line.startswith(b"gpu-a01:"):
            assert result.split(b"\n")[number].startswith(line)


def test_a_log_that_is_not_wrapped_is_left_alone() -> None:
    text = ("\n".join(LOG) + "\n").encode()
    assert rejoined(text) == text


def test_lines_of_equal_length_are_no_wrapping() -> None:
    line = "node1:100:100 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/IPC/read   "
    text = "\n".join([line] * 50).encode() + b"\n"
    assert rejoined(text) == text


def test_other_output_between_lines_of_one_width_is_not_swallowed() -> None:
    nccl = "node1:100:100 [0] NCCL INFO Using network Socket and some more words to fill it".ljust(80, ".")
    text = "\n".join([nccl, "epoch 1", nccl, "epoch 2", "x" * 120]).encode() + b"\n"
    assert rejoined(text) == text


LINK = "{n}: eth{n}: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 9000 qdisc mq state UP mode DEFAULT group default qlen 1000"
LINKS = "\n".join(LINK.format(n=n) for n in range(1, 7)) + "\n"


def folded(text: str, width: int) -> str:
    return "".join(line[i : i + width] + "\n" for line in text.splitlines() for i in range(0, len(line) or 1, width))


def what_is_read(text: str) -> list[tuple[object, ...]]:
    reading = read_source(TextSource.of_bytes("paste.txt", text.encode()))
    return [(found.entity, found.key, found.fields) for found in reading.observations]


@pytest.mark.parametrize("width", [60, 80, 100])
def test_other_output_is_read_through_the_width_of_a_terminal(width: int) -> None:
    whole = what_is_read(LINKS)
    assert len(whole) == 6
    assert what_is_read(folded(LINKS, width)) == whole


def test_lines_of_output_that_are_of_one_length_stay_apart() -> None:
    rows = [f"mlx5_{n:<60} 16777216 Live" for n in range(4)]
    text = "".join(f"{row}\nshort\n" for row in rows)
    assert (unfolded(text.encode()) or b"").count(b"short") == 4
    table = "Module                  Size  Used by\n" + "".join(
        f"{name:<24}{size:>8}  1 {'a' * 40}\n{name[::-1]:<24}{size:>8}  0\n"
        for name, size in [("nvidia_peermem", 16384), ("ib_uverbs", 163840), ("mlx5_core", 1638400), ("gdrdrv", 24576)]
    )
    assert unfolded(table.encode()) is not None
    modules = {key[0] for entity, key, _ in what_is_read(table) if entity == "KernelModule"}
    assert {"nvidia_peermem", "ib_uverbs", "mlx5_core", "gdrdrv", "memreep_aidivn"} - modules == set()


def test_unfolding_keeps_the_numbers_of_lines() -> None:
    text = folded(LINKS, 80).encode()
    assert (unfolded(text) or b"").count(b"\n") == text.count(b"\n")
    assert unfolded(b"x" * (1 << 19)) is None
    assert unfolded(LINKS.encode()) is None
