"""The release of RCCL where only that of ROCm is known."""

from __future__ import annotations

import pytest
from defects.test_entries import led
from judged import findings

from ncdiag.diagnose import diagnose
from ncdiag.facts.scalars import Version
from ncdiag.nccl.defects.table import rccl_of
from ncdiag.text.sources.files import TextSource

SLOW = "Training on MI250X GPUs is slow over several hosts. GPUDirect RDMA goes through DMA-BUF. We use ROCm {}.\n"


@pytest.mark.parametrize(
    ("rocm", "rccl"),
    [
        ((6, 4, 1), "2.22.3"), ((6, 4, 3), "2.22.3"), ((7, 0, 2), "2.26.6"), ((7, 2, 0), "2.27.7"),
        ((7, 14, 0), "2.30.4"), ((5, 2, 1), "2.11.4"), ((5, 2, 3), "2.12.10"),
    ],
)  # fmt: skip
def test_each_series_has_its_release(rocm: tuple[int, int, int], rccl: str) -> None:
    assert str(rccl_of(Version(*rocm))) == rccl


def test_a_series_that_no_table_knows_has_none() -> None:
    assert rccl_of(Version(7, 3, 0)) is None


def test_a_defect_of_rccl_leads_by_the_release_of_rocm() -> None:
    assert "rccl-dma-buf-flag" in led(SLOW.format("6.2.1"))
    assert "rccl-dma-buf-flag" not in led(SLOW.format("6.3.0"))
    assert "rccl-dma-buf-flag" not in led(SLOW.format("6.1.2"))


def test_the_release_that_rccl_prints_counts_before_that_of_rocm() -> None:
    printed = "n1:40:40 [0] NCCL INFO RCCL version 2.21.5+hip6.3 HEAD:0d2c4fd\nRCCL version : 2.21.5-HEAD:0d2c4fd\n"
    assert "rccl-dma-buf-flag" not in led(printed + SLOW.format("6.2.1"))


CARDS = "n1:40:40 [0] NCCL INFO NET/IB : Using [0]ionic_0:1/RoCE [1]ionic_1:1/RoCE [RO]; OOB eth0:10.0.0.1<0>\n"
BLOCK = "RCCL version : {rccl}-HEAD:0d2c4fd\nHIP version  : {hip}\nROCm version : {rocm}.0-38-b2c3d4e\n"
OLD, NEW = (
    BLOCK.format(rccl="2.26.6", hip="7.0.51831", rocm="7.0.2"),
    BLOCK.format(rccl="2.27.7", hip="7.1.52802", rocm="7.1.1"),
)
GPU = "#  Rank  0 Group  0 Pid  40 on n1 device  0 [0000:05:00] AMD Instinct MI300X\n"
RUNS = f"old image\n{OLD}{GPU}\nnew image\n{NEW}{CARDS}{GPU}"


@pytest.mark.parametrize(
    "told",
    [
        "We moved to a new image and all-to-all is half as fast.",
        "All-to-all is slow since the upgrade to ROCm 7.1.1, it works with ROCm 7.0.2.",
        "With ROCm 7.0.2 alltoall is fine, with the new image it has half the bandwidth.",
    ],
)
def test_of_two_runs_the_release_of_the_slow_one_counts(told: str) -> None:
    text = f"{told}\n\n{RUNS}"
    assert "rocm-pollara-alltoall" in led(text)
    names = [one.rule.name for one in findings(text) if one.role == "cause"]
    assert names[0] == "version-known-defect"
    report = diagnose([TextSource.of_bytes("log", text.encode())])
    likely = [one.name for one in report.suspects if one.likelihood == "likely"]
    assert "rccl-hip-version-mismatch" not in likely


def test_where_the_newer_release_works_the_older_one_counts() -> None:
    """What ROCm 7.2.0 has mended is in the older image; a run with 7.0 alone is not meant."""
    swapped = RUNS.replace("7.1.1", "7.2.0").replace("7.0.2", "7.1.1")
    assert "rocm-pollara-alltoall" in led(f"All-to-all was slow. With the new image it is fast.\n\n{swapped}")
    assert "rocm-pollara-alltoall" not in led(f"We moved to a new image and all-to-all is half as fast.\n\n{swapped}")


def test_other_cards_and_collectives_do_not_meet_it() -> None:
    slow = "We moved to a new image and {} is half as fast.\n\n"
    assert "rocm-pollara-alltoall" not in led(slow.format("all-reduce") + RUNS)
    assert "rocm-pollara-alltoall" not in led(slow.format("all-to-all") + RUNS.replace("ionic_", "mlx5_"))
