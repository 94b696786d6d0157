"""P2P, shared memory or the network between two GPUs, by release, processor and setting."""

from __future__ import annotations

from typing import Any

import pytest

from ncdiag.facts.model import Host, TopoCpu, TopoLink
from ncdiag.facts.scalars import Version
from ncdiag.nccl.selection.distances import distances
from ncdiag.nccl.selection.graph import Graph, Node
from ncdiag.nccl.selection.p2p import Local, level, local_transports

V = Version
V230 = V(2, 30, 7)
AMD, INTEL = TopoCpu(arch="x86_64", vendor="AuthenticAMD"), TopoCpu(arch="x86_64", vendor="GenuineIntel")
BROADWELL = TopoCpu(arch="x86_64", vendor="GenuineIntel", family_id=6, model_id=0x4F)
SAPPHIRE = TopoCpu(arch="x86_64", vendor="GenuineIntel", family_id=6, model_id=0x8F)
ARM, UNSEEN = TopoCpu(arch="aarch64"), TopoCpu()


@pytest.mark.parametrize(
    ("version", "cpu", "gpus", "cpus", "farthest"),
    [
        (V(2, 3, 7), UNSEEN, 8, None, "PHB"),
        (V(2, 4, 8), UNSEEN, 8, 2, "PHB"),
        (V(2, 5, 7), UNSEEN, 8, 2, "PHB"),
        (V(2, 5, 7), UNSEEN, 8, 1, "PXB"),
        (V(2, 5, 7), UNSEEN, 8, None, None),
        (V(2, 6, 4), SAPPHIRE, 8, 2, "SYS"),
        (V(2, 6, 4), BROADWELL, 8, 2, "PXB"),
        (V(2, 8, 3), SAPPHIRE, 8, 2, "PHB"),
        (V(2, 8, 3), BROADWELL, 8, 2, "PXB"),
        (V(2, 8, 3), INTEL, 8, 2, None),
        (V(2, 18, 3), INTEL, 8, 2, "PXB"),
        (V(2, 18, 3), AMD, 8, 2, "SYS"),
        (V(2, 18, 3), ARM, 8, 2, "PXB"),
        (V(2, 18, 3), UNSEEN, 8, 2, None),
        (V(2, 22, 3), AMD, 2, 2, "SYS"),
        (V(2, 23, 4), AMD, 8, 2, "PXB"),
        (V(2, 23, 4), AMD, 2, 2, "SYS"),
        (V(2, 30, 7), INTEL, 2, 2, "PXB"),
        (V(2, 30, 7), UNSEEN, 8, 2, "PXB"),
        (V(2, 30, 7), UNSEEN, 2, 2, None),
    ],
)
def test_default_level(version: Version, cpu: TopoCpu, gpus: int, cpus: int | None, farthest: str | None) -> None:
    assert level({}, version, cpu, gpus, cpus)[0] == farthest


@pytest.mark.parametrize(
    ("settings", "version", "farthest"),
    [
        ({"P2P_DISABLE": "1"}, V(2, 18, 3), "LOC"),
        ({"P2P_DISABLE": "2"}, V(2, 30, 7), "PXB"),  # the value 1 alone counts
        ({"P2P_DISABLE": "true"}, V(2, 30, 7), "PXB"),
        ({"P2P_LEVEL": "SYS"}, V(2, 30, 7), "SYS"),
        ({"P2P_LEVEL": "NVL"}, V(2, 30, 7), "NVL"),
        ({"P2P_LEVEL": "nvl"}, V(2, 30, 7), "PXB"),
        ({"P2P_LEVEL": "3"}, V(2, 30, 7), "PHB"),
        ({"P2P_LEVEL": "SYS", "P2P_DISABLE": "1"}, V(2, 30, 7), "LOC"),
        ({"P2P_LEVEL": "4", "P2P_DISABLE": "1"}, V(2, 5, 7), "NODE"),  # the level won before 2.6
        ({"P2P_LEVEL": None}, V(2, 30, 7), None),
        ({"P2P_DISABLE": None}, V(2, 30, 7), None),
    ],
)
def test_level_of_the_user(settings: dict[str, str | None], version: Version, farthest: str | None) -> None:
    found, rule = level({f"NCCL_{name}": value for name, value in settings.items()}, version, INTEL, 8, 2)
    assert found == farthest
    assert rule


def host(*levels: str, **status: str) -> Host:
    """GPU0 and one more GPU for each level between them."""
    links = [TopoLink(host="n1", a="GPU0", b=f"GPU{n}", level=word) for n, word in enumerate(levels, start=1)]
    if status:
        links[0] = TopoLink(host="n1", a="GPU0", b="GPU1", level=levels[0], **status)  # type: ignore[arg-type]
    return Host(name="n1", links=tuple(links))


def between(seen: Host, version: Any = V230, cpu: TopoCpu = AMD, **settings: str | None) -> Local:  # noqa: ANN401
    named = {f"NCCL_{name}": value for name, value in settings.items()}
    return local_transports(seen, distances(seen, None, ()), named, version, cpu)


def first(*args: Any, **kwargs: Any) -> str | None:  # noqa: ANN401
    return between(*args, **kwargs).pairs[0].transport


def test_transports() -> None:
    eight = "NV18", "PIX", "PXB", "PHB", "NODE", "SYS", "SYS"
    found = {pair.b: pair.transport for pair in between(host(*eight)).pairs if pair.a == "GPU0"}
    assert found == {
        "GPU1": "P2P", "GPU2": "P2P", "GPU3": "P2P", "GPU4": "SHM", "GPU5": "SHM", "GPU6": "SHM", "GPU7": "SHM",
    }  # fmt: skip
    old = {pair.transport for pair in between(host(*eight), V(2, 18, 3)).pairs if pair.a == "GPU0"}
    assert old == {"P2P"}
    assert first(host("SYS"), cpu=INTEL) == "SHM"
    assert first(host("SYS")) == "P2P"  # two GPUs of an AMD host
    assert first(host("SYS"), SHM_DISABLE="1", P2P_DISABLE="1") == "NET"
    assert first(host("SYS"), SHM_DISABLE=None, P2P_DISABLE="1") is None
    assert first(host("NV4"), P2P_LEVEL="PIX") == "P2P"
    assert first(host("NV4"), V(2, 4, 8), P2P_LEVEL="1") == "P2P"
    assert first(host("NV4"), V(2, 4, 8), P2P_LEVEL="0") == "SHM"


def test_what_nvml_refuses() -> None:
    refused = host("PIX", p2p_read="CNS", p2p_write="OK")
    (pair,) = between(refused).pairs
    assert (pair.transport, "NVML reports CNS" in pair.why) == ("SHM", True)
    assert first(host("PIX", p2p_read="OK", p2p_write="OK")) == "P2P"


def test_an_unknown_processor_leaves_open_only_what_hangs_on_it() -> None:
    assert first(host("SYS"), V(2, 18, 3), UNSEEN) is None
    assert first(host("PIX"), V(2, 18, 3), UNSEEN) == "P2P"
    assert first(host("SYS"), None) is None  # the releases do not agree
    assert first(host("NV12"), None) == "P2P"


def test_reasons_name_what_decided() -> None:
    told = between(host("NV18", "SYS", "SYS"), P2P_LEVEL="PXB").reasons
    assert {(reason.about, reason.rule) for reason in told} >= {("GPU0-GPU1", "NCCL_P2P_LEVEL=PXB")}
    assert any(reason.text == "SHM: SYS is beyond NCCL_P2P_LEVEL=PXB (path from nvidia-smi topo -m)" for reason in told)
    assert all(reason.source for reason in told if reason.rule != "not known")
    assert "share the host's /dev/shm" in told[0].text
    assert between(Host(name="n1")) == Local()


def test_fast_nics_beat_the_way_through_the_cpu() -> None:
    graph = Graph()
    cpus = [graph.add(Node("cpu", str(n))) for n in range(2)]
    graph.join(cpus[0], cpus[1], "SYS", 10.0)
    for n in range(2):
        switch = graph.add(Node("pci", str(n)))
        graph.join(switch, cpus[n], "PCI", 12.0)
        graph.join(graph.add(Node("gpu", f"GPU{n}")), switch, "PCI", 48.0)
        nic = graph.add(Node("nic", str(n)))
        graph.join(nic, switch, "PCI", 48.0)
        graph.join(nic, graph.add(Node("net", f"mlx5_{n}")), "NET", 50.0)
    seen = distances(host("SYS"), None, ())
    assert seen is not None
    both = type(seen)("made up", ("GPU0", "GPU1"), ("mlx5_0", "mlx5_1"), {}, graph)

    def transport(version: Version, *direct: str, **settings: str) -> str | None:
        return local_transports(Host(name="n1"), both, settings, version, INTEL, direct).pairs[0].transport

    assert transport(V(2, 30, 7), "mlx5_0", "mlx5_1") == "NET"
    assert transport(V(2, 30, 7), "mlx5_0") == "SHM"
    assert transport(V(2, 12, 12), "mlx5_0", "mlx5_1") == "SHM"
    assert transport(V(2, 30, 7), "mlx5_0", "mlx5_1", NCCL_NET_DISABLE_INTRA="1") == "SHM"
