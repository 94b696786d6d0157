"""The graph of a host from a topology file and from /sys, and the paths in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ncdiag.facts.model import Gpu, Host, PciDevice, TopoLink, TopoSystem
from ncdiag.facts.scalars import Version
from ncdiag.nccl.selection import topology
from ncdiag.nccl.selection.distances import Distances, distances
from ncdiag.nccl.selection.graph import Graph, Node
from ncdiag.nccl.selection.topology import Net
from ncdiag.text.reading.job import facts_of

V218, V228, V230 = Version(2, 18, 3), Version(2, 28, 3), Version(2, 30, 7)

SWITCH = """\
    <pci busid="0000:{bus}:00.0" class="0x060400" vendor="{vendor}" device="0xc010" subsystem_vendor="{vendor}"
 subsystem_device="0xa096" link_speed="16.0 GT/s PCIe" link_width="16">
{inside}    </pci>
"""
GPU = """\
      <pci busid="0000:{bus}:00.0" class="0x030200" vendor="0x10de" device="0x20b5" subsystem_vendor="0x10de"
 subsystem_device="0x1533" link_speed="16.0 GT/s PCIe" link_width="16">
        <gpu dev="{dev}" sm="80" rank="{dev}" gdr="1">
{links}        </gpu>
      </pci>
"""
NIC = """\
      <pci busid="0000:{bus}:00.0" class="0x020700" vendor="0x15b3" device="0x101d" subsystem_vendor="0x15b3"
 subsystem_device="0x0058" link_speed="16.0 GT/s PCIe" link_width="16">
        <nic>
          <net name="{name}" dev="{dev}" speed="200000" port="1" guid="0x5" maxconn="131072" gdr="1"/>
        </nic>
      </pci>
"""


def nvlink(*targets: str, kind: str = "0x030200") -> str:
    return "".join(f'          <nvlink target="{t}" count="4" tclass="{kind}"/>\n' for t in targets)


def gpu(dev: int, bus: str, links: str = "") -> str:
    return GPU.format(dev=dev, bus=bus, links=links)


def switch(bus: str, *inside: str, vendor: str = "0x1000") -> str:
    return SWITCH.format(bus=bus, inside="".join(inside), vendor=vendor)


def system(*cpus: str, vendor: str = "GenuineIntel") -> TopoSystem:
    text = "".join(
        f'  <cpu host_hash="0x1" numaid="{n}" affinity="0000ffff" arch="x86_64" vendor="{vendor}" familyid="6"'
        f' modelid="143">\n{inside}  </cpu>\n'
        for n, inside in enumerate(cpus)
    )
    job = facts_of({"topo_xml": [f'<system version="1">\n{text}</system>']}, "n1")
    (found,) = job.topologies
    assert found.whole
    return found


def types(graph: Graph, one: str, version: Version = V230, *, through_gpus: bool = True) -> dict[str, str]:
    """The types of the paths from a GPU to the other GPUs and the nets."""
    found = graph.paths(Node("gpu", one), version, through_gpus=through_gpus)
    return {node.name: path.type for node, path in found.items() if node.kind in {"gpu", "net"} and node.name != one}


NEAR = switch("15", gpu(0, "17"), NIC.format(bus="18", name="mlx5_0", dev=0), vendor="0x10b5")
TWO_LEVELS = switch(
    "15", switch("16", gpu(1, "17")), switch("26", gpu(2, "27"), NIC.format(bus="28", name="mlx5_1", dev=1)),
    vendor="0x10b5",
)  # fmt: skip


@pytest.mark.parametrize("version", [V218, V228, V230])
def test_one_switch_two_switches_a_bridge_and_the_other_socket(version: Version) -> None:
    graph = topology.of_file(system(NEAR + gpu(3, "3b"), TWO_LEVELS.replace("0000:1", "0000:9")))
    assert types(graph, "GPU0", version) == {
        "mlx5_0": "PIX", "GPU3": "PHB", "GPU1": "SYS", "GPU2": "SYS", "mlx5_1": "SYS",
    }  # fmt: skip
    assert types(graph, "GPU1", version)["GPU2"] == "PXB"
    assert types(graph, "GPU1", version)["mlx5_1"] == "PXB"
    assert types(graph, "GPU2", version)["mlx5_1"] == "PIX"


def test_two_halves_of_one_broadcom_switch_count_as_one() -> None:
    halves = TWO_LEVELS.replace("0x10b5", "0x1000")
    assert types(topology.of_file(system(halves)), "GPU1")["GPU2"] == "PIX"


def test_nvlink_through_switches_directly_and_through_a_gpu() -> None:
    through_switches = nvlink("0000:04:00.0", kind="0x068000")
    graph = topology.of_file(system(gpu(0, "17", through_switches), gpu(1, "3b", through_switches)))
    assert types(graph, "GPU0") == {"GPU1": "NVL"}
    chain = system(
        gpu(0, "17", nvlink("0000:3b:00.0")), gpu(1, "3b", nvlink("0000:17:00.0", "0000:5d:00.0"))
        + gpu(2, "5d", nvlink("0000:3b:00.0")),
    )  # fmt: skip
    for version in (V218, V230):
        assert types(topology.of_file(chain), "GPU0", version) == {"GPU1": "NVL", "GPU2": "NVB"}
        assert types(topology.of_file(chain), "GPU0", version, through_gpus=False)["GPU2"] == "SYS"


def test_grace_reaches_its_nics_by_c2c() -> None:
    c2c = '          <c2c bw="56000" count="10"/>\n'
    grace = system(
        gpu(0, "01", c2c) + NIC.format(bus="03", name="mlx5_0", dev=0),
        gpu(1, "11", c2c) + NIC.format(bus="13", name="mlx5_1", dev=1),
    )
    seen = distances(Host(name="n1"), grace, ())
    assert seen is not None
    assert [seen.to_net("GPU0", "mlx5_0", v) for v in (V218, V228, V230)] == ["PHB", "P2C", "P2C"]
    assert seen.to_net("GPU0", "mlx5_1", V230) == "SYS"


def test_a_file_without_gpus_tells_no_distance() -> None:
    assert distances(Host(name="n1"), system(NIC.format(bus="03", name="mlx5_0", dev=0)), ()) is None


def device(bus: str, *bridges: str, numa: int = 0) -> PciDevice:
    return PciDevice(host="n1", bus_id=bus, bridges=bridges, numa_node=numa, width_max=16, speed_gts_max=32.0)


ROOT, UP, DOWN0, DOWN1 = "0000:15:01.0", "0000:16:00.0", "0000:17:00.0", "0000:17:01.0"
TREE = (
    device(ROOT), device(UP, ROOT), device(DOWN0, ROOT, UP), device(DOWN1, ROOT, UP),
    device("0000:18:00.0", ROOT, UP, DOWN0), device("0000:19:00.0", ROOT, UP, DOWN1),
    device("0000:3a:01.0"), device("0000:3b:00.0", "0000:3a:01.0"),
    device("0000:99:01.0", numa=1), device("0000:9a:00.0", "0000:99:01.0", numa=1),
)  # fmt: skip


def tree_host(**fields: object) -> Host:
    places = ("0000:18:00.0", "0000:3b:00.0", "0000:9a:00.0")
    gpus = tuple(Gpu(host="n1", index=n, bus_id=bus, nvlinks=0) for n, bus in enumerate(places))
    return Host(**{"name": "n1", "pci": TREE, "gpus": gpus, **fields})  # type: ignore[arg-type]


NETS = (Net("mlx5_0", "0000:19:00.0", 400_000), Net("eth9", "0000:9a:00.0", 25_000))


def test_the_pci_tree_of_sys() -> None:
    seen = distances(tree_host(), None, NETS)
    assert seen is not None
    assert seen.source == "the PCI tree of /sys"
    assert seen.between("GPU0", "GPU1", V230) == "PHB"
    assert seen.between("GPU0", "GPU2", V230) == "SYS"
    assert seen.to_net("GPU0", "mlx5_0", V230) == "PIX"
    assert seen.to_net("GPU1", "mlx5_0", V230) == "PHB"
    assert seen.between("GPU0", "GPU1", Version(2, 7, 8)) is None  # its search is another and not simulated


def test_without_the_matrix_nvlink_may_be_there() -> None:
    gpus = tuple(Gpu(host="n1", index=n, bus_id=b) for n, b in enumerate(("0000:18:00.0", "0000:3b:00.0")))
    seen = distances(tree_host(gpus=gpus), None, NETS)
    assert seen is not None
    assert seen.between("GPU0", "GPU1", V230) is None
    assert seen.to_net("GPU0", "mlx5_0", V230) == "PIX"
    missing = tree_host(pci=TREE[:4])
    assert distances(missing, None, NETS) is None


def test_an_input_with_more_devices_than_a_host_has_is_not_searched() -> None:
    gpus = tuple(Gpu(host="n1", index=n, bus_id=f"0000:{n:04x}:00.0", nvlinks=0) for n in range(500))
    pci = tuple(device(f"0000:{n:04x}:00.0") for n in range(500))
    assert distances(Host(name="n1", gpus=gpus, pci=pci), None, ()) is None
    assert distances(Host(name="n1", gpus=gpus[:8], pci=pci[:8]), None, ()) is not None


def test_a_file_whose_switches_contain_themselves_ends() -> None:
    inside = switch("15", gpu(0, "17"), vendor="0x10b5")
    graph = topology.of_file(system(switch("15", inside, vendor="0x10b5") + gpu(1, "3b")))
    assert [node.name for node in graph.of("gpu")] == ["GPU0", "GPU1"]
    assert types(graph, "GPU1") == {}  # the switch of GPU0 hangs at no CPU


def test_the_words_of_nvidia_smi() -> None:
    def link(a: str, b: str, level: str) -> TopoLink:
        return TopoLink(host="n1", a=a, b=b, level=level)

    links = (link("GPU0", "GPU1", "NV4"), link("GPU1", "GPU2", "NV2"), link("GPU0", "GPU2", "SYS"),
             link("GPU0", "NIC0", "NODE"), link("GPU2", "NIC0", "PIX"))  # fmt: skip
    host = Host(name="n1", links=links, nic_labels={"NIC0": "mlx5_0"})
    seen = distances(host, None, ())
    assert isinstance(seen, Distances)
    assert (seen.gpus, seen.nets) == (("GPU0", "GPU1", "GPU2"), ("mlx5_0",))
    assert seen.between("GPU1", "GPU0", V230) == "NVL"
    assert seen.between("GPU0", "GPU2", V230) == "NVB"
    apart = distances(host, None, (), through_gpus=False)
    assert apart is not None
    assert apart.between("GPU0", "GPU2", V230) == "SYS"
    assert [seen.to_net("GPU0", "mlx5_0", Version(2, minor)) for minor in (5, 6)] == ["NODE", "PHB"]
    assert distances(Host(name="n1"), None, ()) is None


def test_the_dump_of_a_real_job(shared: Path) -> None:
    text = (shared / "corpus" / "topo_xml" / "timez-zx-nccl_topo_dump_normal.xml").read_text()
    (dump,) = facts_of({"topo_xml": [text]}, "n1").topologies
    graph = topology.of_file(dump)
    assert types(graph, "GPU0", V230) == {"GPU1": "NVL", "mlx5_0": "PHB", "mlx5_1": "PHB"}
