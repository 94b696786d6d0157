"""Tables that people write, and rates beside releases, as comparisons."""

from __future__ import annotations

import pytest

from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.told import told_trials
from ncdiag.text.reading.job import facts_of


def trials(text: str) -> set[str]:
    job = facts_of({"text": [text]})
    return {f"{trial.outcome}:{label}" for label, trial in told_trials(job, View(job))}


@pytest.mark.parametrize(
    ("table", "wanted"),
    [
        (
            "| NCCL | result |\n|---|---|\n| 2.25.1 (stock) | hangs at step 300 |\n| 2.27.7 | 20000 steps clean |\n",
            {"fails:older-nccl", "works:newer-nccl"},
        ),
        (
            "| | NCCL 2.18.5 | NCCL 2.21.5 |\n|---|---|---|\n| all_reduce | ok | hangs |\n| sendrecv | ok | ok |\n",
            {"works:older-nccl", "fails:newer-nccl"},
        ),
        (
            "| Driver | busbw (GB/s) |\n|:---|---:|\n| 535.161.08 | 182.4 |\n| 550.54.15 | 21.3 |\n",
            {"faster:older-driver", "slower:newer-driver"},
        ),
        (
            "| Driver version | works? |\n|---|---|\n| 535.161.08 | \u2705 |\n| 550.54.15 | \u274c |\n",
            {"works:older-driver", "fails:newer-driver"},
        ),
        (
            "| GPUs | result |\n|---|---|\n| 2 GPUs | ok |\n| 8 GPUs | hangs |\n",
            {"works:fewer-gpus", "fails:more-gpus"},
        ),
        (
            "| setting | busbw GB/s |\n|---|---|\n| NCCL_NVLS_ENABLE=0 | 410 |\n| NCCL_NVLS_ENABLE=1 | 90 |\n",
            {"faster:NCCL_NVLS_ENABLE=0", "slower:NCCL_NVLS_ENABLE=1"},
        ),
        (
            "| start method | result |\n|---|---|\n| fork | hangs |\n| spawn | ok |\n",
            {'fails:"fork"', 'works:"spawn"'},
        ),
        ("| start method | result |\n|---|---|\n| fork | hangs |\n| spawn | hangs |\n", set()),
        ("| Component | Version |\n|---|---|\n| NCCL | 2.21.5 |\n| Driver | 550.54 |\n", set()),
        ("| Driver | busbw (GB/s) |\n|---|---|\n| 535.161.08 | 182.4 |\n| 550.54.15 | 181.3 |\n", set()),
    ],
)
def test_a_table_is_a_comparison(table: str, wanted: set[str]) -> None:
    assert trials(f"We ran the same job on both of them:\n\n{table}") == wanted


def test_lines_with_a_rate_each_are_compared() -> None:
    assert trials("NCCL 2.18.5 -> 180 GB/s\nNCCL 2.21.5 -> 60 GB/s\n") == {"faster:older-nccl", "slower:newer-nccl"}
    assert trials("NCCL 2.18.5 -> 180 GB/s\nNCCL 2.21.5 -> 2 ms\n") == set()


def test_the_release_that_works_is_kept() -> None:
    job = facts_of({"text": ["NCCL 2.17.1: ok, 2.18.3: ok, 2.19.3: hangs, 2.20.5: hangs"]})
    assert [trial.release for trial in job.trials if trial.outcome == "works"] == ["NCCL 2.18.3"]
    job = facts_of({"text": ["The job hangs. driver 535.129.03: hangs, driver 550.54.06: ok, driver 560.1.01: ok"]})
    assert [trial.release for trial in job.trials if trial.outcome == "works"] == ["driver 550.54.06"]
