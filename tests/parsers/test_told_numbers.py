"""Releases in use, sizes of jobs and functions on stacks, told from others: pairs of sentences."""

from __future__ import annotations

import pytest

from ncdiag.parsers.user_text import in_use, loads, numbers, planes, settings, sizes
from ncdiag.parsers.user_text.rates import RateReader


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
        ("Before, with NCCL 2.21.5, it was fast.", []),
        ("Before it hangs, NCCL 2.21.5 prints a warning.", ["nccl 2.21.5"]),
        ("It was much faster with NCCL 2.21.5 last year.", []),
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
        ("gdb shows ncclRecv and getenv ().", [("function", "ncclRecv"), ("function", "getenv")]),
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


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        ("One plane went down on host n17 during the night.", [("plane-lost", "1")]),
        ("We lost one of the four planes on host n17.", [("plane-lost", "1 of 4")]),
        ("The switch team says that two planes are down.", [("plane-lost", "2")]),
        ("Each card is split into eight planes.", [("planes", "8 planes")]),
        ("One plane of our NIC (MRC, eight planes) went down.", [("plane-lost", "1"), ("planes", "8 planes")]),
        ("One plane (planarized, 4 planes) of the NIC failed.", [("plane-lost", "1"), ("planes", "4 planes")]),
        ("One port of our NIC (MRC, eight planes) went down.", []),
        ("The control plane is down.", []),
        ("The backplane failed.", []),
        ("All eight planes are up.", []),
        ("One plane was down for an hour and is back.", []),
        ("What if one plane went down?", []),
    ],
)
def test_a_lost_plane_is_one_of_the_network(sentence: str, told: list[tuple[str, str]]) -> None:
    found = [each for each in planes.read(sentence) if each[0] == "plane-lost" or each in told]
    assert found == told


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        ("All GPUs show 100% utilization except GPU 5, which is idle.", ["one-gpu-idle"]),
        ("GPU 5 is at 0% and the others are at 100%.", ["one-gpu-idle"]),
        ("The GPUs show 100% utilization and 0% memory utilization.", ["gpus-spin"]),
        ("All GPUs are at 100% and draw a third of their power.", ["gpus-spin"]),
        ("All GPUs show 100% utilization, GPU 5 as well.", []),
        ("The GPUs show 100% utilization and 60% memory utilization.", []),
        ("Is GPU 5 idle while the others are at 100%?", []),
    ],
)
def test_a_load_is_that_of_all_but_one_or_of_all(sentence: str, told: list[str]) -> None:
    assert loads.read(sentence) == told


@pytest.mark.parametrize(
    ("sentence", "has_fallen"),
    [
        ("all_reduce_perf has 61 GB/s, it was 338 in the old image", True),
        ("we get 12 GB/s, which was 180 before the update", True),
        ("we get 338 GB/s, it was 61 in the old image", False),
        ("we get 61 GB/s, and there were 16 nodes before", False),
        ("we get 61 GB/s, it was 70 before", False),
        ("nccl-tests over two nodes: 15 GB/s (expected ~190)", True),
        ("all_reduce shows 15 GB/s busbw (should be 190)", True),
        ("all_reduce shows 368 GB/s busbw (should be 350)", False),
        ("we get 61 GB/s, expected 100 % of the nodes", False),
        ("busbw 12 -> 4 since the BIOS update", True),
        ("busbw 4 -> 12 since the BIOS update", False),
        ("we limited the bandwidth 100 -> 25", False),
    ],
)
def test_a_rate_beside_a_higher_one_of_before_is_a_complaint(sentence: str, *, has_fallen: bool) -> None:
    assert numbers.fell(sentence) is has_fallen


def test_a_rate_over_one_connection_is_that_of_nccl_where_it_is_named() -> None:
    rates = RateReader().read("ib_write_bw gives 392 Gb/s, but NCCL over a single connection gives only 11 GB/s")
    assert [(rate.of, rate.gbps) for rate in rates] == [("rdma-test", 392.0), ("nccl", 88.0)]


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        ("all_reduce went from 370 to 90 GB/s after the switch upgrade", True),
        ("busbw is down from 370 GB/s to only 90 since Monday", True),
        ("all_reduce went from 90 to 370 GB/s after the switch upgrade", False),
        ("the step time went from 370 to 90 ms", False),
        ("we limited it from 370 to 90 GB/s", False),
        ("we moved from 8 to 4 hosts and get 90 GB/s", False),
    ],
)
def test_a_speed_that_fell_from_one_number_to_another(sentence: str, told: bool) -> None:
    assert numbers.fell(sentence) is told
