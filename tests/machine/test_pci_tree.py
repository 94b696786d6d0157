"""What /sys and /proc tell for NCCL's distances: bridges above a device, its ids, kernel and processor."""

from __future__ import annotations

from pathlib import Path

import pytest

from ncdiag.facts.merge import merge
from ncdiag.facts.model import Host
from ncdiag.machine import sysfs_host, sysfs_pci
from ncdiag.machine.recording import RecordingTree, ReplayedTree
from ncdiag.machine.tree import Tree

ROOT, UP, DOWN, GPU = "0000:16:01.0", "0000:17:00.0", "0000:18:00.0", "0000:19:00.0"


def machine(root: Path) -> Path:
    """A switch with a GPU behind a root port, as the kernel lays it out."""
    above = root / "sys" / "devices" / "pci0000:16"
    links = root / "sys" / "bus" / "pci" / "devices"
    links.mkdir(parents=True)
    for name, kind in ((ROOT, "0x060400"), (UP, "0x060400"), (DOWN, "0x060400"), (GPU, "0x030200")):
        above /= name
        above.mkdir(parents=True)
        (above / "class").write_text(f"{kind}\n")
        (links / name).symlink_to(Path("../../../..") / above.relative_to(root))
    for file, text in (("vendor", "0x10de"), ("device", "0x2330"), ("subsystem_vendor", "0x10de"),
                       ("subsystem_device", "0x16c1")):  # fmt: skip
        (above / file).write_text(f"{text}\n")
    return root


def host(tree: Tree) -> Host:
    (found,) = merge(sysfs_pci.pci(tree)).hosts
    return found


def test_bridges_and_ids(tmp_path: Path) -> None:
    tree = RecordingTree(machine(tmp_path), "n1")
    devices = {device.bus_id: device for device in host(tree).pci}
    assert devices[GPU].bridges == (ROOT, UP, DOWN)
    assert devices[GPU].ids == "10de:2330:10de:16c1"
    assert devices[ROOT].bridges == ()
    assert devices[UP].ids is None
    again = {device.bus_id: device for device in host(ReplayedTree(tree.recorded, "bundle")).pci}
    assert again[GPU].bridges == devices[GPU].bridges


def test_a_copied_tree_without_links_leaves_them_unknown(tmp_path: Path) -> None:
    plain = tmp_path / "sys" / "bus" / "pci" / "devices" / GPU
    plain.mkdir(parents=True)
    (plain / "class").write_text("0x030200\n")
    tree = Tree(tmp_path, "n1")
    assert host(tree).pci[0].bridges is None
    assert tree.refused == {}


@pytest.mark.parametrize(
    ("cpuinfo", "arch", "vendor"),
    [
        ("processor\t: 0\nvendor_id\t: AuthenticAMD\nflags\t\t: fpu sse\n\nprocessor\t: 1\n", "x86_64", "AuthenticAMD"),
        ("processor\t: 0\nBogoMIPS\t: 2000.00\nCPU implementer\t: 0x41\n", "aarch64", None),
        ("processor: 0\n", None, None),
    ],
)
def test_kernel_and_processor(tmp_path: Path, cpuinfo: str, arch: str | None, vendor: str | None) -> None:
    (tmp_path / "proc" / "sys" / "kernel").mkdir(parents=True)
    (tmp_path / "proc" / "sys" / "kernel" / "osrelease").write_text("5.15.0-91-generic\n")
    (tmp_path / "proc" / "cpuinfo").write_text(cpuinfo)
    tree = Tree(tmp_path, "n1")
    (found,) = merge([*sysfs_host.kernel(tree), *sysfs_host.surroundings(tree)]).hosts
    assert (found.kernel_release, found.cpu_arch, found.cpu_vendor) == ("5.15.0-91-generic", arch, vendor)
