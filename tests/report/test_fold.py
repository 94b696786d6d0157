from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ncdiag.facts.fold import fold_hosts, fold_ranks


@pytest.mark.parametrize(
    ("ranks", "folded"),
    [
        ([], ""),
        ([3], "3"),
        ([0, 1], "0-1"),
        ([16, 0, 1, 2, 3, 4, 5, 6, 7, 7], "0-7,16"),
        ([5, 3, 1], "1,3,5"),
    ],
)
def test_ranks(ranks: list[int], folded: str) -> None:
    assert fold_ranks(ranks) == folded


@pytest.mark.parametrize(
    ("hosts", "folded"),
    [
        ([], ""),
        (["node2", "node1", "node3"], "node[1-3]"),
        (["node1", "node1"], "node1"),
        (["node1", "login"], "node1,login"),
        (["gpu08", "gpu09", "gpu10"], "gpu[08-10]"),
        (["gpu9", "gpu10", "gpu010"], "gpu[9-10],gpu010"),
        (["10.1.0.1", "10.1.0.2"], "10.1.0.1,10.1.0.2"),
        (["fe80::1", "fe80::2"], "fe80::1,fe80::2"),
        (["ip-10-0-3-17.ec2.internal", "ip-10-0-3-18.ec2.internal"], "ip-10-0-3-[17-18].ec2.internal"),
        (["rack1-gpu2", "rack1-gpu3", "rack2-gpu2"], "rack1-gpu[2-3],rack2-gpu2"),
        (["host\n1", "a]b1"], "a]b1,host\n1"),
    ],
)
def test_hosts(hosts: list[str], folded: str) -> None:
    assert fold_hosts(hosts) == folded


def unfold(text: str) -> list[int]:
    """The numbers again, read the way ranges are read."""
    pieces = [piece.split("-") for piece in text.split(",") if piece]
    return [number for piece in pieces for number in range(int(piece[0]), int(piece[-1]) + 1)]


@given(st.sets(st.integers(0, 300)))
def test_ranks_come_back(ranks: set[int]) -> None:
    assert unfold(fold_ranks(ranks)) == sorted(ranks)


@given(st.sets(st.integers(0, 300), min_size=2), st.sampled_from([0, 3, 5]))
def test_hosts_come_back(numbers: set[int], width: int) -> None:
    folded = fold_hosts(f"gpu{number:0{width}d}" for number in numbers)
    padded = [f"{number:0{width}d}" for number in sorted(numbers)]
    if any(text.startswith("0") and len(text) > 1 for text in padded) or not width:
        assert unfold(folded.removeprefix("gpu[").removesuffix("]")) == sorted(numbers)
    assert folded.count("gpu") == 1
