"""Releases in use, sizes of jobs and functions on stacks, told from others: pairs of sentences."""

from __future__ import annotations

import pytest

from ncdiag.parsers.user_text import in_use, settings, sizes


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        ("It is 30 percent slower with NCCL 2.30.5 than with 2.29.7.", ["nccl 2.30.5"]),
        ("It is 30 percent slower than with NCCL 2.29.7.", []),
        ("We upgraded torch to 2.7.0 and it hangs in the first barrier.", ["pytorch 2.7.0"]),
        ("Upgrading torch to 2.7.1 fixed it.", []),
        ("We went to NCCL from 2.27.7 to 2.29.2, and it crashes.", ["nccl 2.29.2"]),
        ("torch 2.6 works.", []),
        ("PyTorch 2.9 with NCCL 2.27.5 does not work.", ["pytorch 2.9", "nccl 2.27.5"]),
        ("NCCL 2.29.7, 16 ranks, it hangs.", ["nccl 2.29.7"]),
        ("With NCCL 2.28.9 it hangs, with NCCL 2.27.7 it works.", ["nccl 2.28.9"]),
        ("NCCL version: 2.30.4+cuda13.0", ["nccl 2.30.4"]),
        ("The other cluster has NCCL 2.21.5.", []),
        ("I also tried NCCL 2.21.5.", []),
        ("Is this fixed in NCCL 2.31.2?", []),
        ("This is fixed in NCCL 2.31.2.", []),
        ("It needs at least NCCL 2.28.3.", []),
        ("We will try NCCL 2.31.2 tomorrow.", []),
        ("aws-ofi-nccl 1.19.0 corrupts our data.", ["aws-ofi-nccl 1.19.0"]),
    ],
)
def test_a_release_is_in_use_unless_the_clause_says_otherwise(sentence: str, told: list[str]) -> None:
    assert in_use.read(sentence) == told


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        ("Job with 7 ranks on the first node and 8 on the second deadlocks.", [("ranks-a-host", "7 8")]),
        ("We run 8 GPUs on node a and 7 on node b.", [("ranks-a-host", "8 7")]),
        ("The 7+8 ranks never start.", [("ranks-a-host", "7 8")]),
        ("Uneven numbers of ranks per node hang.", [("ranks-a-host", "uneven")]),
        ("We start 4 processes per node.", [("ranks-a-host", "4")]),
        ("The first all-gather on two ranks hangs.", [("rank-count", "2 ranks")]),
        ("Our 512-GPU job is slow.", [("rank-count", "512 ranks")]),
        ("2 ranks crashed and 6 ranks wait.", []),
        ("An all-reduce on 8 ranks of another group works.", []),
        ("Our host has 40 RDMA ports.", [("rdma-port-count", "40 ports")]),
        ("There are 40 HCAs in the rack.", []),
        ("gdb shows ncclProxyGetPostedOps and getenv ().", [("function", "ncclProxyGetPostedOps"), ("function", "getenv")]),
        ("Look at libnccl.so and NCCL_DEBUG=INFO.", []),
        ("Does it matter that 7 ranks are on one node and 8 on the other?", []),
    ],
)  # fmt: skip
def test_sizes_are_those_of_the_job(sentence: str, told: list[tuple[str, str]]) -> None:
    assert sizes.read(sentence) == told


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        ("NCCL_DEBUG_SUBSYS=TUNING makes our job die with SIGSEGV.", [("NCCL_DEBUG_SUBSYS", "TUNING")]),
        ("NCCL_CTA_POLICY=2 hangs the job.", [("NCCL_CTA_POLICY", "2")]),
        ("With NCCL_NVLS_ENABLE=1 the job crashes, without it all is good.", [("NCCL_NVLS_ENABLE", "1")]),
        ("With NCCL_NVLS_ENABLE=0 the job still hangs.", []),
        ("With NCCL_NVLS_ENABLE=0 it does not hang.", []),
        ("NCCL_NVLS_ENABLE=0 makes it work.", []),
        ("If NCCL_NVLS_ENABLE=0 makes it hang, tell us.", []),
    ],
)
def test_a_variable_with_which_it_goes_wrong_is_set(sentence: str, told: list[tuple[str, str]]) -> None:
    assert settings.read(sentence) == told
