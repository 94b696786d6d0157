"""The table of products: names as tools print them, sources, and numbers that fit each other."""

from __future__ import annotations

import re

import pytest

from ncdiag.base.products import address, name_of, product_of, products


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("Tesla V100-SXM2-32GB", "V100 SXM2"),
        ("Tesla V100-PCIE-16GB", "other cards"),
        ("NVIDIA A100-SXM4-80GB", "A100 SXM"),
        ("A100-SXM-80GB", "A100 SXM"),
        ("NVIDIA A100-PCIE-40GB", "A100 PCIe"),
        ("NVIDIA A100 80GB PCIe", "A100 PCIe"),
        ("NVIDIA H100 80GB HBM3", "H100 SXM"),
        ("NVIDIA H100 PCIe", "other cards of Hopper"),
        ("NVIDIA H100 NVL", "H100 NVL"),
        ("NVIDIA H200", "H200 SXM"),
        ("NVIDIA H200 NVL", "other cards of Hopper"),
        ("NVIDIA H20-3e", "H20 SXM"),
        ("NVIDIA H800", "H800 SXM"),
        ("NVIDIA B200", "B200 SXM"),
        ("NVIDIA B300 SXM6 AC", "B300 SXM"),
        ("NVIDIA GB200", "GB200"),
        ("NVIDIA GB300", "GB200"),
        ("NVIDIA GH200 480GB", "GH200"),
        ("AMD Instinct MI300X", "MI300X"),
        ("AMD Instinct MI355X", "MI350X and MI355X"),
        ("NVIDIA A40", "cards of Ampere with NVLink (compute capability 8.6)"),
        ("NVIDIA A10G", "cards of Ampere without NVLink"),
        ("NVIDIA GeForce RTX 4090", "GeForce of Ada"),
        ("NVIDIA GeForce RTX 5070 Ti", "GeForce of Blackwell"),
        ("NVIDIA RTX 4000 Ada Generation", "cards of Ada"),
        ("NVIDIA L40S", "cards of Ada"),
        ("NVIDIA RTX PRO 6000 Blackwell Server Edition", "cards of Blackwell"),
        ("NVIDIA GB10", None),
        (None, None),
    ],
)
def test_a_gpu_is_found_by_the_name_that_tools_print(model: str | None, name: str | None) -> None:
    assert name_of(model) == name
    assert (product_of(model) is None) == (name is None)


def test_each_row_names_its_source() -> None:
    table = products()
    assert all(product.source for product in table.gpu.values())
    named = [row.source for row in table.machine] + [row.source for p in table.gpu.values() for row in p.accepts]
    assert all(re.match("https://", address(source)) for source in named)
    assert address("oci: two hosts") == f"{address('oci')}: two hosts"
    assert {row.gpu for row in table.machine} <= table.gpu.keys()


def test_nobody_demands_more_than_links_and_ports_carry() -> None:
    """What two hosts reach together by trees is below twice what the ports of one carry."""
    for name, product in products().gpu.items():
        carried = product.links * product.link_gbs
        held = [row.gbs for row in product.accepts if row.gpus == product.board]
        assert all(gbs <= 1.1 * carried for gbs in (*held, product.nvls_gbs or 0.0, product.least or 0.0)), name
    for row in products().machine:
        assert row.total_gbps is None or row.accepts < 2 * row.total_gbps / 8, row.name


def test_what_is_sure_to_be_reached_is_below_what_is_demanded() -> None:
    for name, product in products().gpu.items():
        assert all((product.least or 0.0) <= row.gbs <= (product.nvls_gbs or row.gbs) for row in product.accepts), name
