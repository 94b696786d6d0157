"""The NICs of each GPU, and NCCL_CROSS_NIC."""

from __future__ import annotations

from typing import Any

import pytest

from ncdiag.facts.model import Host, TopoLink
from ncdiag.facts.scalars import Version
from ncdiag.nccl.selection.distances import Distances, distances
from ncdiag.nccl.selection.graph import Graph, Node
from ncdiag.nccl.selection.nics import nics

V230 = Version(2, 30, 7)


def seen(*levels: tuple[str, str, str]) -> Distances:
    links = tuple(TopoLink(host="n1", a=gpu, b=nic, level=word) for gpu, nic, word in levels)
    found = distances(Host(name="n1", links=links), None, ())
    assert found is not None
    return found


def test_the_nearest_serve_a_gpu() -> None:
    rails = seen(("GPU0", "mlx5_0", "PIX"), ("GPU0", "mlx5_1", "SYS"), ("GPU1", "mlx5_0", "SYS"),
                 ("GPU1", "mlx5_1", "PXB"), ("GPU2", "mlx5_0", "NODE"), ("GPU2", "mlx5_1", "PHB"))  # fmt: skip
    found = nics(rails, ("mlx5_0", "mlx5_1"), {}, V230)
    assert found.by_gpu == {"GPU0": ("mlx5_0",), "GPU1": ("mlx5_1",), "GPU2": ("mlx5_0", "mlx5_1")}
    one = nics(rails, ("mlx5_1",), {}, V230)
    assert one.by_gpu["GPU0"] == ("mlx5_1",)
    assert any(reason.text.startswith("mlx5_1: the only NIC, SYS") for reason in one.reasons)


def test_a_gpu_whose_distance_to_a_nic_was_not_seen_is_left_out() -> None:
    part = seen(("GPU0", "mlx5_0", "PIX"), ("GPU1", "mlx5_0", "SYS"), ("GPU1", "mlx5_1", "PIX"))
    assert nics(part, ("mlx5_0", "mlx5_1"), {}, V230).by_gpu == {"GPU1": ("mlx5_1",)}
    assert nics(None, ("mlx5_0",), {}, V230).by_gpu == {}
    assert nics(part, (), {}, V230).reasons == ()


def test_a_wide_nic_far_away_comes_before_a_narrow_one_nearby() -> None:
    graph = Graph()
    cpus = [graph.add(Node("cpu", str(n))) for n in range(2)]
    graph.join(cpus[0], cpus[1], "SYS", 22.0)
    graph.join(graph.add(Node("gpu", "GPU0")), cpus[0], "PCI", 48.0)
    for n, (name, speed) in enumerate((("eth0", 1.25), ("mlx5_0", 25.0))):
        nic = graph.add(Node("nic", name))
        graph.join(nic, cpus[n], "PCI", 24.0)
        graph.join(nic, graph.add(Node("net", name)), "NET", speed)
    far = Distances("made up", ("GPU0",), ("eth0", "mlx5_0"), {}, graph)
    assert nics(far, ("eth0", "mlx5_0"), {}, V230).by_gpu == {"GPU0": ("mlx5_0",)}


@pytest.mark.parametrize(
    ("settings", "version", "names", "value", "words"),
    [
        ({}, V230, ("a", "b"), 2, "first tries without crossing"),
        ({"NCCL_CROSS_NIC": "0"}, V230, ("a", "b"), 0, "stay on one NIC number"),
        ({"NCCL_CROSS_NIC": "1"}, V230, ("a", "b"), 1, "come in by one NIC"),
        ({"NCCL_CROSS_NIC": "1"}, V230, ("a",), 0, "crossing is not possible"),
        ({}, Version(2, 4, 8), ("a", "b"), None, "has no NCCL_CROSS_NIC"),
        ({"NCCL_CROSS_NIC": None}, V230, ("a", "b"), None, "is not known"),
        ({}, None, ("a", "b"), None, "tries without"),
    ],
)
def test_crossing(
    settings: dict[str, Any], version: Version | None, names: tuple[str, ...], value: int | None, words: str
) -> None:
    found = nics(seen(("GPU0", "mlx5_0", "PIX")), names, settings, version)
    assert found.cross_nic == value
    assert words in found.reasons[-1].text
