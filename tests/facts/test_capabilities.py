"""Capabilities of GPUs by any spelling, and what they exclude."""

from __future__ import annotations

import pytest

from ncdiag.base.capabilities import capabilities_of, family_of
from ncdiag.base.products import products
from ncdiag.diagnose import look
from ncdiag.facts.vocabulary.capabilities import capabilities


@pytest.mark.parametrize(
    ("names", "arch", "can"),
    [
        (("4090", "rtx 4090", "RTX4090", "NVIDIA GeForce RTX 4090", "GeForce RTX 4090 D"), "8.9", "no-gdr no-peer"),
        (("A100", "a100", "NVIDIA A100-SXM4-80GB", "A100-PCIE-40GB", "A800", "GRID A100-40C"), "8.0", "gdr mig"),
        (("h100", "NVIDIA H100 80GB HBM3", "NVIDIA H200"), "9.0", "gdr nvlink"),
        (("H100 NVL", "NVIDIA H100 PCIe"), "9.0", "no-nvls"),
        (("GB10", "DGX Spark"), "12.1", "no-gdr no-nvlink"),
        (("L40S", "NVIDIA L4", "RTX 6000 Ada"), "8.9", "gdr no-nvlink"),
        (("A40", "RTX A6000", "NVIDIA RTX A6000"), "8.6", "gdr no-mig"),
        (("MI300X", "AMD Instinct MI300X OAM", "mi325x", "MI300A"), "gfx942", "xgmi no-nvlink no-nvls"),
        (("MI355X", "AMD Instinct MI350X"), "gfx950", "xgmi no-mig"),
        (("MI250", "AMD Instinct MI250X / MI250"), "gfx90a", "xgmi"),
        (("MI100",), "gfx908", "no-nvlink"),
        (("RX 7900 XTX", "AMD Radeon RX 7900 XTX", "radeon pro w7900", "W7800"), "gfx110x", "no-xgmi no-nvlink"),
        (("RX 9070 XT", "AMD Radeon AI PRO R9700"), "gfx120x", "no-xgmi"),
        (("V100-SXM2-32GB", "Tesla V100-PCIE-16GB"), "7.0", "gdr no-mig"),
    ],
)
def test_every_spelling_is_one_family(names: tuple[str, ...], arch: str, can: str) -> None:
    for name in names:
        found = family_of(name)
        assert found is not None, name
        assert found.arch == arch
        assert set(can.split()) <= found.can


@pytest.mark.parametrize(
    "name",
    [
        "",
        "Graphics Device",
        "0x740f",
        "GPU 4",
        "MTU 4096",
        "card2",
        "H1000",
        "node-a100x",
        "rx 7",
        "mi",
        "0x74a1",
        "r9700s",
    ],
)
def test_other_words_are_no_gpu(name: str) -> None:
    assert capabilities_of(name) == frozenset()


def test_nothing_is_both_possible_and_impossible() -> None:
    for product in products().gpu:
        can = capabilities_of(product)
        assert not {f"no-{word}" for word in can} & can


@pytest.mark.parametrize(
    ("text", "has", "lacks"),
    [
        ("We train on two RTX 4090 cards and it hangs.\n", "no-nvlink", "nvlink"),
        ("We train on 8 A100 and it hangs.\n", "mig", "no-mig"),
        ("One host has RTX 4090 cards, the other one A100.\n", "no-nvls", "no-nvlink"),
        ("It hangs on p4d.24xlarge instances.\n", "gdr", "no-gdr"),
        ("It hangs.\n", "", "gdr"),
    ],
)
def test_the_gpus_of_a_job_have_what_all_of_them_have(text: str, has: str, lacks: str) -> None:
    view, _ = look(text)
    found = capabilities(view.job, view)
    assert not has or has in found
    assert lacks not in found


@pytest.mark.parametrize("name", ["MI210", "MI100", "MI50", "RX 6900 XT"])
def test_xgmi_that_a_bridge_may_add_is_unknown(name: str) -> None:
    assert not {"xgmi", "no-xgmi"} & capabilities_of(name)
