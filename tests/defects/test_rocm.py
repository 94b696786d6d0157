"""The release of RCCL where only that of ROCm is known."""

from __future__ import annotations

import pytest
from defects.test_entries import led

from ncdiag.facts.scalars import Version
from ncdiag.nccl.defects.table import rccl_of

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
