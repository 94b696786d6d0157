"""Rates that people tell in numbers: of what, in which unit, and what looks like one and is none."""

from __future__ import annotations

from pathlib import Path

import pytest
from linear import assert_linear_time

from ncdiag.facts.view import View
from ncdiag.facts.vocabulary import told_rates
from ncdiag.knowledge.gdr import decisions as gdr
from ncdiag.knowledge.perf import benchmarks
from ncdiag.knowledge.socket import speed
from ncdiag.parsers.user_text.rates import RateReader
from ncdiag.text.reading.job import facts_of

LINES = (Path(__file__).parent / "user_text" / "rates.txt").read_text(encoding="utf-8").splitlines()


def told_by(text: str) -> list[str]:
    return [
        f"{rate.of}:{rate.gbps:.10g}{f'x{rate.count}' if rate.count > 1 else ''}"
        for rate in facts_of({"text": [f"{text}\n"]}).told_rates
    ]


def test_each_line_tells_its_rates() -> None:
    wrong = []
    for line in LINES:
        if "=>" in line and not line.startswith("#"):
            text, _, expected = line.rpartition("=>")
            found = told_by(text.strip().replace("|", "\n"))
            if found != expected.split():
                wrong.append((text.strip(), found, expected.split()))
    assert not wrong


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("told_fraction_of_network", "4 x 200G NICs, nccl-tests give 10 GB/s", 0.1),
        ("told_fraction_of_network", "nccl-tests give 10 GB/s", None),
        ("told_fraction_of_link", "With ib_write_bw we see 50 Gb/s on 200G cards", 0.25),
        ("told_fraction_of_test", "With ib_write_bw we see 200 Gb/s, nccl-tests reach 5 GB/s", 0.2),
        ("told_fraction_of_test", "One connection of our job is slow: X is at 5 GB/s, perftest on it reaches 50.", 0.1),
        ("told_fraction_of_test", "One connection of mlx5_3 is at 5 GB/s, perftest on it reaches 50 GB/s.", 0.1),
        ("told_fraction_of_test", "iperf3 with one connection reaches 5 Gbit/s.", None),
        ("told_fraction_from_gpu", "With ib_write_bw we see 200 Gb/s, with --use_cuda=0 it is 50 Gb/s", 0.25),
        ("told_fraction_of_streams", "iperf3 gives 20 Gbit/s, with -P 8 it gives 80 Gbit/s", 0.25),
        ("told_gigabit", "the traffic between both nodes reaches 113 MB/s", True),
        ("told_gigabit", "the traffic between both nodes reaches 1130 MB/s", False),
        ("told_gigabit", "the nodes hang", None),
    ],
)
def test_what_follows_from_them(name: str, text: str, expected: float | None) -> None:
    job = facts_of({"text": [f"{text}\n"]})
    room = next(module for module in (told_rates, benchmarks, gdr, speed) if hasattr(module, name))
    assert getattr(room, name)(job, View(job)) == expected


def test_long_lines_cost_no_more_than_their_length() -> None:
    assert_linear_time(
        lambda lines: [list(RateReader().read(line)) for line in lines],
        lambda size: ["8 8 8 8 NICs rate 100 Gb/s of the of the " * 20] * size,
        20,
    )
    hostile = ("two " * 240, "8 x " * 240, "instead of " * 90, "1 " * 490, "expected " * 100 + "1")
    assert_linear_time(
        lambda size: [list(RateReader().read(line[:size])) for line in hostile for _ in range(50)], lambda n: n, 100
    )
