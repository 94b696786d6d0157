"""NVSwitches, boards and links by model and topology; what copies reach beside their siblings."""

from __future__ import annotations

from itertools import combinations

import pytest

from ncdiag.facts.model import Gpu, Host, Job, PciDevice, TopoLink
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.gpus import has_nvswitch
from ncdiag.knowledge.gpu.boards import missing_gpus
from ncdiag.knowledge.nvlink.links import lacks_nvlinks
from ncdiag.knowledge.p2p import slow_pairs


def view_of(host: Host) -> View:
    return View(Job(hosts=(host,)))


def gpus(model: str | None, count: int) -> tuple[Gpu, ...]:
    return tuple(Gpu(host="a", index=index, model=model) for index in range(count))


def links(count: int, nvlinks: int, peer_gb_per_s: float | None = None) -> tuple[TopoLink, ...]:
    """All pairs of so many GPUs, joined by so many NVLinks."""
    level = f"NV{nvlinks}" if nvlinks else "SYS"
    return tuple(
        TopoLink(host="a", a=f"GPU{a}", b=f"GPU{b}", level=level, nvlink_count=nvlinks, peer_gb_per_s=peer_gb_per_s)
        for a, b in combinations(range(count), 2)
    )


@pytest.mark.parametrize(
    ("model", "count", "nvlinks", "expected"),
    [
        ("NVIDIA H100 80GB HBM3", 8, 18, True),
        ("NVIDIA H100 80GB HBM3", 2, 18, True),  # two GPUs of a board
        ("NVIDIA H100 80GB HBM3", 4, 6, False),  # a board of four has none
        ("NVIDIA A100-SXM4-40GB", 4, 4, False),
        ("NVIDIA A100-SXM4-40GB", 2, 12, True),
        ("NVIDIA A800-SXM4-80GB", 8, 8, True),
        ("NVIDIA B300 SXM6 AC", 8, 18, True),
        ("NVIDIA A100 80GB PCIe", 2, 12, False),
        ("NVIDIA H100 NVL", 2, 12, False),
        ("NVIDIA H200 NVL", 4, 6, False),
        ("NVIDIA H200 NVL", 2, 18, False),
        ("NVIDIA GB200", 4, 18, False),  # those of the rack
        ("Tesla V100-SXM2-32GB", 8, 1, False),
        ("Tesla V100-SXM3-32GB", 16, 6, True),
        ("NVIDIA GeForce RTX 3090", 2, 4, False),
        (None, 8, 12, True),
        (None, 2, 12, None),
        (None, 2, 18, True),
        (None, 4, 0, False),
        ("NVIDIA H200", 8, 0, True),  # whose links are all down
    ],
)
def test_switches_are_told_from_bridges_and_meshes(
    model: str | None, count: int, nvlinks: int, expected: bool | None
) -> None:  # fmt: skip
    host = Host(name="a", gpus=gpus(model, count), links=links(count, nvlinks))
    assert has_nvswitch(host, view_of(host)) is expected


def test_a_switch_on_the_bus_is_one() -> None:
    switch = PciDevice(host="a", bus_id="0000:07:00.0", description="Bridge: NVIDIA Corporation GA100 [A100 NVSwitch]")
    host = Host(name="a", pci=(switch,))
    assert has_nvswitch(host, view_of(host)) is True


@pytest.mark.parametrize(
    ("model", "nvlinks", "inactive", "expected"),
    [
        ("NVIDIA A100-SXM4-80GB", 11, 1, True),
        ("NVIDIA A100-SXM4-80GB", 12, 0, False),
        ("NVIDIA A100-SXM4-80GB", 0, 12, False),  # alone, it may have been given none
        ("NVIDIA A100 80GB PCIe", 8, 4, False),
        (None, 8, 4, False),
    ],
)
def test_an_inactive_link_of_a_module_is_one_too_few(
    model: str | None, nvlinks: int, inactive: int, expected: bool
) -> None:  # fmt: skip
    gpu = Gpu(host="a", index=0, model=model, nvlinks=nvlinks, nvlinks_inactive=inactive)
    assert lacks_nvlinks(gpu, view_of(Host(name="a", gpus=(gpu,)))) is expected


@pytest.mark.parametrize(("count", "missing"), [(8, ""), (7, "7 of 8"), (5, "5 of 8"), (4, ""), (3, ""), (1, "")])
def test_boards_hold_eight(count: int, missing: str) -> None:
    host = Host(name="a", gpus=gpus("NVIDIA H20-3e", count), complete=frozenset({"nvidia_smi_L"}))
    assert missing_gpus(host, view_of(host)) == missing


@pytest.mark.parametrize("changes", [{"complete": frozenset()}, {"in_container": True}])
def test_a_list_that_need_not_be_whole_misses_nothing(changes: dict[str, object]) -> None:
    told = {"complete": frozenset({"nvidia_smi"}), **changes}
    host = Host(name="a", gpus=gpus("NVIDIA H200", 7), **told)  # type: ignore[arg-type]
    assert missing_gpus(host, view_of(host)) is None


def with_slow(host_links: tuple[TopoLink, ...], names: set[str], rate: float) -> tuple[TopoLink, ...]:
    """The links, those between two of the named GPUs at another rate."""
    return tuple(
        TopoLink(host="a", a=x.a, b=x.b, level=x.level, peer_gb_per_s=rate if {x.a, x.b} <= names else x.peer_gb_per_s)
        for x in host_links
    )


@pytest.mark.parametrize(
    ("names", "count", "usual", "slow"),
    [
        ({"GPU1", "GPU3"}, 4, 250.0, "GPU1 and GPU3 (20 of 250 GB/s)"),
        ({"GPU1", "GPU3"}, 3, 250.0, ""),  # three pairs: which of them is usual?
        ({"GPU0", "GPU1", "GPU2"}, 4, 250.0, ""),  # half of the pairs: so it is built
    ],
)
def test_few_slow_pairs_stand_out(names: set[str], count: int, usual: float, slow: str) -> None:
    host = Host(name="a", links=with_slow(links(count, 4, usual), names, 20.0))
    assert slow_pairs(host, view_of(host)) == slow


@pytest.mark.parametrize(("rate", "slow"), [(26.0, True), (390.0, False), (230.0, False)])
def test_gpus_on_switches_are_held_against_their_links(rate: float, slow: bool) -> None:
    host = Host(name="a", gpus=gpus("NVIDIA H100 80GB HBM3", 8), links=links(8, 18, rate))
    found = slow_pairs(host, view_of(host))
    assert (None if found is None else found != "") is slow


def test_pairs_of_other_levels_are_not_compared() -> None:
    near = links(4, 0, 26.0)
    far = tuple(TopoLink(host="a", a=f"GPU{n}", b="GPU4", level="NODE", peer_gb_per_s=9.0) for n in range(4))
    host = Host(name="a", links=(*near, *far[:1]))
    assert slow_pairs(host, view_of(host)) == ""
