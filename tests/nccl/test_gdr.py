"""GPUDirect RDMA: support, distance, reading."""

from __future__ import annotations

from typing import Any

import pytest

from ncdiag.facts.model import Gpu, Hca, Host, KernelModule, PciDevice, TopoLink
from ncdiag.facts.scalars import Version
from ncdiag.nccl.selection.distances import distances
from ncdiag.nccl.selection.gdr import gdr, pairs
from ncdiag.nccl.selection.topology import Net

V = Version
MODULE = (KernelModule(host="n1", name="nvidia_peermem"),)


OPEN: dict[str, Any] = {
    "modules": (), "complete": frozenset({"lsmod"}), "open_kernel_module": True,
    "gpus": (Gpu(host="n1", index=0, cuda="12.4"),), "hcas": (Hca(host="n1", name="mlx5_0"),),
}  # fmt: skip
"""A host without a peer memory module that has all that DMA-BUF takes, but for the kernel."""


def host(*levels: tuple[str, str], nvlink: int | None = None, **fields: Any) -> Host:  # noqa: ANN401
    links = [TopoLink(host="n1", a=gpu, b="NIC0", level=level) for gpu, level in levels]
    if nvlink is not None:
        links.append(TopoLink(host="n1", a="GPU0", b="GPU1", level="NV4" if nvlink else "PHB", nvlink_count=nvlink))
    defaults = {"links": tuple(links), "nic_labels": {"NIC0": "mlx5_0"}, "modules": MODULE}
    return Host(name="n1", **(defaults | fields))


@pytest.mark.parametrize(
    ("levels", "version", "settings", "enabled"),
    [
        ((("GPU0", "PIX"),), V(2, 18, 3), {}, True),
        ((("GPU0", "PXB"),), V(2, 18, 3), {}, True),
        ((("GPU0", "PHB"),), V(2, 18, 3), {}, False),
        ((("GPU0", "NODE"),), V(2, 18, 3), {}, False),
        ((("GPU0", "NODE"),), V(2, 18, 3), {"NCCL_NET_GDR_LEVEL": "PHB"}, True),
        ((("GPU0", "SYS"),), V(2, 18, 3), {"NCCL_NET_GDR_LEVEL": "PHB"}, False),
        ((("GPU0", "SYS"),), V(2, 18, 3), {"NCCL_NET_GDR_LEVEL": "5"}, True),
        ((("GPU0", "PIX"),), V(2, 18, 3), {"NCCL_NET_GDR_LEVEL": "LOC"}, False),
        ((("GPU0", "PHB"),), V(2, 18, 3), {"NCCL_NET_GDR_LEVEL": "sys"}, False),
        ((("GPU0", "SYS"), ("GPU1", "PIX")), V(2, 18, 3), {}, True),
        ((("GPU0", "PXB"),), V(2, 30, 7), {}, True),
        ((("GPU0", "PHB"),), V(2, 30, 7), {}, False),
        ((("GPU0", "PXB"),), None, {}, None),
        ((), V(2, 18, 3), {}, None),
        ((), V(2, 18, 3), {"NCCL_NET_GDR_LEVEL": "SYS"}, True),
    ],
)
def test_distance(
    levels: tuple[tuple[str, str], ...], version: Version | None, settings: dict[str, str], enabled: bool | None
) -> None:
    assert gdr(host(*levels), "mlx5_0", settings, version).enabled is enabled


@pytest.mark.parametrize(
    ("fields", "version", "settings", "enabled", "why"),
    [
        ({}, V(2, 18, 3), {}, True, "nvidia_peermem is loaded"),
        ({"modules": ()}, V(2, 18, 3), {}, None, "was not seen"),
        ({"modules": (), "complete": frozenset({"lsmod"})}, V(2, 12, 12), {}, False, "no peer memory module"),
        ({"modules": (), "complete": frozenset({"lsmod"})}, V(2, 18, 3), {}, None, "DMA-BUF"),
        ({"modules": (), "absent_modules": ("nvidia_peermem",)}, V(2, 12, 12), {}, None, "not seen"),
        ({"modules": (), "complete": frozenset({"lsmod"})}, V(2, 18, 3), {"NCCL_DMABUF_ENABLE": "0"}, False, "DMA-BUF"),
        (
            {"modules": (), "complete": frozenset({"lsmod"}), "open_kernel_module": False},
            V(2, 18, 3), {}, False, "open kernel modules",
        ),
        (
            {"modules": (), "complete": frozenset({"lsmod"}), "gpus": (Gpu(host="n1", index=0, cuda="11.4"),)},
            V(2, 18, 3), {}, False, "CUDA 11.7",
        ),
        ({"modules": (), "peermem_registered": True}, V(2, 12, 12), {}, True, "registered"),
        (OPEN | {"kernel_release": "5.4.0-170-generic"}, V(2, 18, 3), {}, False, "needs Linux 5.12, the host has 5.4"),
        (OPEN | {"kernel_release": "4.18.0-553.el8_10.x86_64"}, V(2, 18, 3), {}, None, "DMA-BUF"),
        (OPEN | {"kernel_release": "6.8.0-45-generic"}, V(2, 18, 3), {}, True, "DMA-BUF works"),
        (OPEN | {"kernel_release": "6.8.0-45-generic"}, V(2, 12, 12), {}, False, "no peer memory module"),
        (OPEN | {"kernel_release": "6.8.0-45-generic", "hcas": ()}, V(2, 18, 3), {}, None, "DMA-BUF"),
        (OPEN | {"kernel_release": None}, V(2, 18, 3), {}, None, "DMA-BUF"),
        (OPEN | {"rdma_core_version": "28.0"}, V(2, 18, 3), {}, False, "needs rdma-core 34, the host has 28.0"),
    ],
)  # fmt: skip
def test_support(
    fields: dict[str, Any], version: Version, settings: dict[str, str], enabled: bool | None, why: str
) -> None:
    answer = gdr(host(("GPU0", "PIX"), **fields), "mlx5_0", settings, version)
    assert answer.enabled is enabled
    assert why in answer.why


@pytest.mark.parametrize(
    ("fields", "version", "settings", "reads"),
    [
        ({"nvlink": 4}, V(2, 18, 3), {}, True),
        ({"nvlink": 0}, V(2, 18, 3), {}, False),
        ({}, V(2, 18, 3), {}, None),
        ({"nvlink": 0, "gpus": (Gpu(host="n1", index=0, compute_capability="9.0"),)}, V(2, 18, 3), {}, False),
        ({"nvlink": 0, "gpus": (Gpu(host="n1", index=0, compute_capability="9.0"),)}, V(2, 19, 3), {}, True),
        ({"nvlink": 0, "gpus": (Gpu(host="n1", index=0, compute_capability="7.5"),)}, V(2, 19, 3), {}, False),
        ({"nvlink": 0}, V(2, 19, 3), {}, None),
        ({"nvlink": 4}, V(2, 18, 3), {"NCCL_NET_GDR_READ": "0"}, False),
        ({}, V(2, 18, 3), {"NCCL_NET_GDR_READ": "1"}, True),
        ({"nvlink": 4}, V(2, 3, 7), {}, False),
    ],
)
def test_reading(fields: dict[str, Any], version: Version, settings: dict[str, str], reads: bool | None) -> None:
    assert gdr(host(("GPU0", "PIX"), **fields), "mlx5_0", settings, version).reads is reads


def test_grace_may_pass_the_host_bridge() -> None:
    grace = host(("GPU0", "NODE"), gpus=(Gpu(host="n1", index=0, model="NVIDIA GB200"),))
    assert gdr(grace, "mlx5_0", {}, V(2, 25, 1)).enabled is False
    assert gdr(grace, "mlx5_0", {}, V(2, 27, 7)).enabled is None


def test_pairs_are_found_by_label_and_by_name() -> None:
    assert [(p.gpu, p.path) for p in pairs(host(("GPU0", "NODE"), ("GPU1", "PIX")), "mlx5_0")] == [
        ("GPU0", "PHB"), ("GPU1", "PIX"),
    ]  # fmt: skip
    named = Host(name="n1", links=(TopoLink(host="n1", a="mlx5_0", b="GPU0", level="SYS"),))
    assert [(p.gpu, p.path) for p in pairs(named, "mlx5_0")] == [("GPU0", "SYS")]
    assert pairs(named, "mlx5_1") == ()


def test_distances_of_the_pci_tree() -> None:
    def device(bus: str, *bridges: str) -> PciDevice:
        return PciDevice(host="n1", bus_id=bus, bridges=bridges, numa_node=0)

    root, up, down = "0000:15:01.0", "0000:16:00.0", "0000:17:00.0"
    tree = (
        device(root),
        device(up, root),
        device(down, root, up),
        device("0000:18:00.0", root, up, down),
        device("0000:19:00.0", root, up, down),
        device("0000:3a:01.0"),
        device("0000:3b:00.0", "0000:3a:01.0"),
    )
    gpu = Gpu(host="n1", index=0, bus_id="0000:18:00.0")
    one = host(pci=tree, gpus=(gpu,))
    near, far = (distances(one, None, [Net("mlx5_0", bus)]) for bus in ("0000:19:00.0", "0000:3b:00.0"))
    assert gdr(one, "mlx5_0", {}, V(2, 18, 3)).enabled is None
    assert gdr(one, "mlx5_0", {}, V(2, 18, 3), near).enabled is True
    assert gdr(one, "mlx5_0", {}, V(2, 18, 3), far).enabled is False
    assert gdr(one, "mlx5_0", {"NCCL_NET_GDR_LEVEL": "PHB"}, V(2, 18, 3), far).enabled is True
