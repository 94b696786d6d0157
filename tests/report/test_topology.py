"""The picture of a host: what it shows, what it marks, and that nothing in it overlaps or acts."""

from __future__ import annotations

import itertools
import subprocess
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

from ncdiag.facts.model import Gpu, Hca, Host, Job, PciDevice, TopoLink
from ncdiag.report.topology import plan, svg, text
from ncdiag.report.topology.model import Link, Picture
from ncdiag.text.reading.job import job_of
from ncdiag.text.reading.one import read_source
from ncdiag.text.sources.files import TextSource

SVG = "{http://www.w3.org/2000/svg}"
FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "sections"
TWO_SOCKETS = """\
root@gx05:~# nvidia-smi topo -m
\tGPU0\tGPU1\tGPU2\tGPU3\tNIC0\tNIC1\tNIC2\tCPU Affinity\tNUMA Affinity
GPU0\t X \tNV18\tNV18\tSYS\tPIX\tNODE\tSYS\t0-31\t0
GPU1\tNV18\t X \tNV18\tSYS\tNODE\tPIX\tSYS\t0-31\t0
GPU2\tNV18\tNV18\t X \tSYS\tSYS\tSYS\tPXB\t32-63\t1
GPU3\tSYS\tSYS\tSYS\t X \tSYS\tSYS\tSYS\t32-63\t1
NIC0\tPIX\tNODE\tSYS\tSYS\t X \tNODE\tSYS
NIC1\tNODE\tPIX\tSYS\tSYS\tNODE\t X \tSYS
NIC2\tSYS\tSYS\tPXB\tSYS\tSYS\tSYS\t X

NIC Legend:

  NIC0: mlx5_0
  NIC1: mlx5_1
  NIC2: mlx5_2

root@gx05:~# nvidia-smi nvlink -s
GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-a)
\t Link 0: 26.562 GB/s
\t Link 1: <inactive>
"""


def drawn(paste: str) -> Picture:
    (picture,) = plan.pictures(job_of([read_source(TextSource.of_bytes("paste", paste.encode()))]))
    return picture


def of_host(**fields: object) -> Picture:
    (picture,) = plan.pictures(Job(hosts=(Host(name="gx05", **fields),)))  # type: ignore[arg-type]
    return picture


def boxes(picture: str, *kinds: str) -> list[tuple[float, float, float, float]]:
    found = [r for r in ET.fromstring(picture).iter(f"{SVG}rect") if set((r.get("class") or "").split()) & set(kinds)]  # noqa: S314  (our own text)
    return [tuple(float(r.get(name) or 0) for name in ("x", "y", "width", "height")) for r in found]  # type: ignore[misc]


def overlap(one: tuple[float, float, float, float], other: tuple[float, float, float, float]) -> bool:
    return all(one[i] < other[i] + other[i + 2] and other[i] < one[i] + one[i + 2] for i in (0, 1))


def test_what_topo_m_shows() -> None:
    picture = drawn(TWO_SOCKETS)
    assert (picture.title, picture.source) == ("gx05", "nvidia-smi topo -m")
    assert [(d.label, d.name, d.cpu, d.nearest, d.level) for d in picture.devices] == [
        ("GPU0", "NVIDIA H100 80GB HBM3", 0, ("NIC0",), "PIX"),
        ("GPU1", None, 0, ("NIC1",), "PIX"),
        ("GPU2", None, 1, ("NIC2",), "PXB"),
        ("GPU3", None, 1, ("NIC0", "NIC1", "NIC2"), "SYS"),
        ("NIC0", "mlx5_0", 0, (), None),
        ("NIC1", "mlx5_1", 0, (), None),
        ("NIC2", "mlx5_2", 1, (), None),
    ]
    assert picture.cpus == {0: "0-31", 1: "32-63"}
    assert picture.links["GPU0", "GPU1"] == Link("NV18")
    assert picture.links["GPU0", "NIC1"] == Link("NODE")
    assert picture.links["GPU0", "NIC2"] == Link("SYS", "far")
    assert picture.links["GPU3", "NIC2"] == Link("SYS", "fault")
    assert picture.links["GPU1", "GPU3"] == Link("SYS", "fault")
    assert picture.faults == (
        ("GPU0", "1 of 2 NVLinks are inactive"),
        ("GPU3", "SYS to 3 GPUs where other pairs have NV18"),
        ("GPU3", "every NIC is attached to another CPU (SYS)"),
    )


def test_pairs_that_bridges_join_are_no_fault() -> None:
    gpus = tuple(Gpu(host="gx05", index=n) for n in range(4))
    levels = {("GPU0", "GPU1"): "NV4", ("GPU2", "GPU3"): "NV4"}
    pairs = itertools.combinations([f"GPU{n}" for n in range(4)], 2)
    links = tuple(TopoLink(host="gx05", a=a, b=b, level=levels.get((a, b), "SYS")) for a, b in pairs)
    assert of_host(gpus=gpus, links=links).faults == ()


def test_pcie_links_that_are_narrower_than_possible() -> None:
    gpus = (
        Gpu(host="gx05", index=0, bus_id="0000:1b:00.0", pcie_width=8, pcie_width_max=16, pcie_gen=5, pcie_gen_max=5),
        Gpu(host="gx05", index=1, bus_id="0000:43:00.0", pcie_width=16, pcie_width_max=16, pcie_gen=1, pcie_gen_max=5),
    )
    card = PciDevice(host="gx05", bus_id="0000:18:00.0", width=16, width_max=16, speed_gts=16.0, speed_gts_max=32.0)
    hca = Hca(host="gx05", name="mlx5_0", bus_id="0000:18:00.0", numa_node=0)
    picture = of_host(gpus=gpus, pci=(card,), hcas=(hca,))
    assert picture.faults == (
        ("GPU0", "the PCIe link is narrower than possible: Gen5 x8 of Gen5 x16"),
        ("NIC0", "the PCIe link is slower than possible: Gen4 x16 of Gen5 x16"),  # the idle GPU1 is none
    )


def test_an_nvlink_that_is_off_while_others_are_on() -> None:
    gpus = tuple(Gpu(host="gx05", index=n, nvlinks=18 if n else 0) for n in range(2))
    assert of_host(gpus=gpus).faults == (("GPU0", "no NVLink is active; other GPUs have 18"),)


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("topo_xml/*.txt")), ids=lambda path: path.stem)
def test_a_topology_file_is_drawn_with_every_gpu_it_names(path: Path) -> None:
    job = job_of([read_source(TextSource.of_bytes(path.name, path.read_bytes()))])
    found = plan.pictures(job)
    for system in job.topologies:
        listed = [gpu for gpu in system.gpus if gpu.dev is not None and gpu.dev >= 0 and gpu.bus_id]
        known = len(listed) if system.gpus else sum((p.class_code or "").startswith("0x03") for p in system.pci)
        assert sum(len(picture.of("gpu")) for picture in found) == known
        assert len(found) == (system.nhosts or 1 if known else 0)
    assert {picture.source for picture in found} <= {"the topology file"}
    ET.fromstring(svg.render(found))  # noqa: S314  (our own text)


@pytest.mark.parametrize(
    ("names", "labels", "links"),
    [
        (["rocm_smi/showtopo"], ["GPU0", "GPU1", "GPU2"], {("GPU0", "GPU1"): "XGMI", ("GPU1", "GPU2"): "PCIE"}),
        (["amd_smi/topology"], ["GPU0", "GPU1", "GPU2"], {("GPU0", "GPU1"): "XGMI", ("GPU0", "GPU2"): "PCIE"}),
        (["npu_smi/topo"], ["NPU0", "NPU1", "NPU2"], {("NPU0", "NPU1"): "HCCS", ("NPU0", "NPU2"): "SYS"}),
    ],
)
def test_other_accelerators(names: list[str], labels: list[str], links: dict[tuple[str, str], str]) -> None:
    picture = drawn("\n".join((FIXTURES / f"{name}.txt").read_text() for name in names))
    assert [device.label for device in picture.devices] == labels
    assert {pair: picture.links[pair].word for pair in links} == links
    assert picture.source != "nvidia-smi topo -m"


def test_an_npu_whose_port_is_down() -> None:
    picture = drawn((FIXTURES / "hccn_tool/loop.txt").read_text())
    assert picture.faults == (("NPU1", "the link of its network port is down"),)


@pytest.mark.parametrize("width", [40, 80, 200])
def test_the_terminal_picture_keeps_to_its_width_and_to_ascii(width: int) -> None:
    lines = text.render([drawn(TWO_SOCKETS)], width=width).split("\n")
    assert max(len(line) for line in lines if "--" not in line) <= max(width, 40)
    assert all(line.isascii() for line in lines)
    assert any(line.startswith("GPU3") and line.count("SYS!") == 3 for line in lines)
    assert "SYS*" in "".join(lines)


def test_colour_changes_nothing_but_the_colour() -> None:
    import re

    picture = drawn(TWO_SOCKETS)
    painted = text.render([picture], colour=True)
    assert "\x1b[" in painted
    assert [line.rstrip() for line in re.sub(r"\x1b\[[\d;]*m", "", painted).split("\n")] == text.render(
        [picture]
    ).split("\n")


GPU_COUNTS = st.integers(1, 16)


@examples(60)
@given(gpus=GPU_COUNTS, nics=st.integers(0, 16), nodes=st.integers(1, 4), data=st.data())
def test_no_boxes_overlap_and_all_are_inside(gpus: int, nics: int, nodes: int, data: st.DataObject) -> None:
    words = st.sampled_from(["PIX", "PXB", "NODE", "SYS", "NV18", "NVL"])
    labels = [*(f"GPU{n}" for n in range(gpus)), *(f"NIC{n}" for n in range(nics))]
    pairs = [(a, b) for a, b in itertools.combinations(labels, 2) if a.startswith("GPU")]
    links = tuple(TopoLink(host="h", a=a, b=b, level=data.draw(words)) for a, b in pairs)
    listed = tuple(Gpu(host="h", index=n, numa_node=n % nodes) for n in range(gpus))
    name = data.draw(st.text(max_size=30))
    host = Host(name="h", gpus=listed, links=links, nic_labels={f"NIC{n}": None for n in range(nics)})
    other = Host(name=name or "x", gpus=listed)
    picture = svg.render(plan.pictures(Job(hosts=(host, other))))
    root = ET.fromstring(picture)  # noqa: S314  (our own text)
    width, height = float(root.get("width") or 0), float(root.get("height") or 0)
    for kinds in (("gpu", "nic"), ("cpu",), ("cell", "same", "near", "far", "fault")):
        found = boxes(picture, *kinds)
        assert not any(overlap(a, b) for a, b in itertools.combinations(found, 2))
        assert all(x >= 0 and y >= 0 and x + w <= width and y + h <= height for x, y, w, h in found)
    for device in boxes(picture, "gpu", "nic"):
        inside = [c for c in boxes(picture, "cpu") if overlap(device, c)]
        assert len(inside) == 1
    for line in root.iter(f"{SVG}text"):
        assert 0 <= float(line.get("x") or -1) <= width
        assert 0 <= float(line.get("y") or -1) <= height


HOSTILE = [
    "<script>alert(1)</script>",
    "\"'&]]>",
    "\x1b[2J\x07",
    "\u202ered",
    "\ufffe\uffff",
    "\ud800",
    "a" * 5000,
    "\n\t",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_names_from_the_input_do_nothing(name: str) -> None:
    gpu = Gpu(host=name, index=0, model=name, numa_node=0, cpu_affinity=name)
    link = TopoLink(host=name, a="GPU0", b="NIC0", level=name)
    host = Host(name=name, gpus=(gpu,), links=(link,), nic_labels={"NIC0": name}, hcas=(Hca(host=name, name=name),))
    found = plan.pictures(Job(hosts=(host,)))
    picture = svg.render(found)
    root = ET.fromstring(picture.encode())  # noqa: S314  (our own text)
    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= {
        "svg", "g", "rect", "text", "line", "title", "style",
    }  # fmt: skip
    assert "\x1b" not in picture + text.render(found)
    assert "\u202e" not in picture + text.render(found)


def test_the_command_draws_and_says_when_there_is_nothing(
    ncdiag: Callable[..., subprocess.CompletedProcess[bytes]], tmp_path: Path
) -> None:
    paste, target, nothing = tmp_path / "paste.txt", tmp_path / "topo.svg", tmp_path / "nothing.txt"
    paste.write_text(TWO_SOCKETS)
    nothing.write_text("hello\n")
    done = ncdiag("topo", paste, "--svg", target)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"gx05, from nvidia-smi topo -m\n")
    assert len(boxes(target.read_text(), "gpu")) == 4
    done = ncdiag("topo", nothing)
    assert (done.returncode, done.stdout) == (3, b"")
    assert b"nvidia-smi topo -m" in done.stderr
