"""Ranks of a host as NCCL counts them, which a defect of hosts with different numbers depends on."""

from __future__ import annotations

import pytest
from defects.test_entries import led

HEAD = (
    "The job hangs in ncclCommInitRank.\nn1:10:10 [0] NCCL INFO NCCL version 2.31.2+cuda13.1\n"
    "n1:10:20 [0] NCCL INFO NVLS multicast support is available on dev 0 (NVLS_NCHANNELS 16)\n"
)


def counted(host: str, rank: int, shape: str, mnnvl: int = 0) -> str:
    """The line in which one rank counts ranks, nodes and the ranks of its own node."""
    ranks, nodes, local = shape.split()
    count = f"nRanks {ranks} nNodes {nodes} localRanks {local} localRank 0 MNNVL {mnnvl}"
    return f"{host}:10:20 [0] NCCL INFO comm 0x55{rank:02x}0 rank {rank} {count}\n"


UNEVEN = {
    "two hosts": counted("n1", 0, "15 2 8") + counted("n2", 8, "15 2 7"),
    "the line of one rank, whose host has fewer": counted("n1", 0, "15 2 7"),
    "the line of one rank, whose host has more": counted("n1", 0, "23 3 8"),
    "beside an even communicator of some of the ranks": counted("n1", 0, "15 2 8") + counted("n1", 0, "2 2 1"),
}
EVEN = {
    "two hosts": counted("n1", 0, "16 2 8") + counted("n2", 8, "16 2 8"),
    "the line of one rank of two hosts": counted("n1", 0, "14 2 7"),
    "one host": counted("n1", 0, "7 1 7"),
    "three of four hosts": "".join(counted(f"n{n}", 8 * n, "32 4 8") for n in range(1, 4)),
    "a node that is a domain of NVLink": counted("n1", 0, "15 2 8", 1),
    "an uneven communicator of some of the ranks": counted("n1", 0, "16 2 8") + counted("n1", 0, "3 2 2"),
}


@pytest.mark.parametrize("lines", UNEVEN.values(), ids=UNEVEN)
def test_hosts_with_different_numbers_of_ranks(lines: str) -> None:
    assert "uneven-nvls" in led(HEAD + lines)


@pytest.mark.parametrize("lines", EVEN.values(), ids=EVEN)
def test_hosts_with_as_many_ranks_each(lines: str) -> None:
    assert "uneven-nvls" not in led(HEAD + lines)


def test_a_sum_of_ranks_in_a_sentence() -> None:
    said = "We run with 8 + 7 = 15 ranks. The job hangs in ncclCommInitRank. NVLS is on. NCCL 2.31.2."
    assert "uneven-nvls" in led(said)
    assert "uneven-nvls" not in led(said.replace("8 + 7 = 15", "8 + 8 = 16"))
