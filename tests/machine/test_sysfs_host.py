"""PCI devices, modules, limits, driver, surroundings and shared memory of a host."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from ncdiag.facts.model import Host
from ncdiag.facts.observe import Observation
from ncdiag.machine import sysfs_host, sysfs_pci
from ncdiag.machine.tree import Tree

Write = Callable[[Path, Mapping[str, str | bytes]], Tree]
HostOf = Callable[[list[Observation]], Host]
Every = Callable[[Tree], Iterator[Observation]]
SHM = "/dev/shm"  # noqa: S108  (it is the subject)
HERE = Tree(Path("/"), "here")


def test_pci_and_gpus(roce: Host) -> None:
    devices = {device.bus_id: device for device in roce.pci}
    assert list(devices) == sorted(devices), "in the order of the bus"
    assert "0000:00:1f.4" not in devices
    nic = devices["0000:18:00.0"]
    assert (nic.device_class, nic.is_bridge, nic.width, nic.speed_gts) == ("Ethernet controller", False, 16, 32.0)
    assert (nic.iommu_group, nic.driver, nic.numa_node) == (40, "mlx5_core", 0)
    assert devices["0000:17:01.0"].is_bridge
    assert devices["0000:17:01.0"].acs_redirects is None, "unknown without the configuration space"
    assert len(roce.gpus) == 8
    slow, narrow = roce.gpus[2], roce.gpus[5]
    assert (slow.bus_id, slow.model, slow.numa_node) == ("0000:3c:00.0", "NVIDIA H100 80GB HBM3", 0)
    assert (slow.pcie_gen, slow.pcie_gen_max, narrow.pcie_width, narrow.pcie_width_max) == (1, 5, 8, 16)


def capability(at: int, kind: int, following: int, payload: bytes = b"") -> tuple[int, bytes]:
    return at, struct.pack("<I", kind | 1 << 16 | following << 20) + payload


def config(*capabilities: tuple[int, bytes], size: int = 4096) -> bytes:
    space = bytearray(size)
    for at, data in capabilities:
        space[at : at + len(data)] = data
    return bytes(space)


@pytest.mark.parametrize(
    ("space", "control"),
    [
        (config(capability(0x100, 0x0001, 0x148), capability(0x148, 0x000D, 0, struct.pack("<HH", 0x7F, 0x1D))), 0x1D),
        (config(capability(0x100, 0x000D, 0, struct.pack("<HH", 0x7F, 0))), 0),
        (config(capability(0x100, 0x0001, 0)), 0),
        (config(size=256), None),
        (b"", None),
        (config(capability(0x100, 0x0001, 0x100)), 0),
        (config(capability(0x100, 0x0001, 0xFFC)), 0),
    ],
    ids=["second capability", "all off", "no ACS", "not root", "empty", "loop", "beyond the end"],
)
def test_acs(tmp_path: Path, space: bytes, control: int | None, write: Write, host_of: HostOf) -> None:
    assert sysfs_pci.acs_control(space) == control
    base = "sys/bus/pci/devices/0000:17:01.0"
    host = host_of(list(sysfs_pci.pci(write(tmp_path, {f"{base}/class": "0x060400\n", f"{base}/config": space}))))
    assert host.pci[0].acs_redirects == (None if control is None else control != 0)
    if control:
        controls = "SrcValid+ TransBlk- ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl- DirectTrans-"
        assert host.pci[0].acs_controls == controls


def test_modules_and_peer_memory(roce: Host, infiniband: Host, pod: Host) -> None:
    assert {m.name: m.used_by for m in roce.modules}["nvidia_peermem"] == 0
    assert roce.peermem_registered is True
    assert infiniband.peermem_registered is False
    assert pod.peermem_registered is None
    assert [m.name for m in pod.modules] == ["overlay"]


def test_limits(roce: Host, infiniband: Host) -> None:
    limits = {limit.name: limit for limit in infiniband.limits}
    assert (limits["memlock"].soft, limits["memlock"].unlimited, limits["memlock"].hard) == (65536, False, 65536)
    assert (limits["stack"].soft, limits["stack"].hard, limits["stack"].hard_unlimited) == (8388608, None, True)
    memlock = {limit.name: limit for limit in roce.limits}["memlock"]
    assert (memlock.soft, memlock.unlimited) == (None, True)


def test_this_process_has_the_limits_that_the_kernel_tells() -> None:
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    found = {o.key[0]: o.fields for o in sysfs_host.limits(HERE) if o.entity == "Limit"}
    assert found["memlock"].get("soft", resource.RLIM_INFINITY) == soft
    assert found["nofile"].get("soft", resource.RLIM_INFINITY) == resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def test_driver_iommu_and_surroundings(roce: Host, infiniband: Host, pod: Host) -> None:
    assert (roce.driver, roce.open_kernel_module) == ("550.54.15", True)
    assert (infiniband.driver, infiniband.open_kernel_module) == ("525.147.05", False)
    assert (roce.iommu_translating, infiniband.iommu_translating, pod.iommu_translating) == (False, True, None)
    assert (roce.in_container, infiniband.in_container, pod.in_container) == (False, False, True)
    assert (roce.virtual_machine, infiniband.virtual_machine, pod.virtual_machine) == (False, True, None)
    assert (infiniband.cloud, infiniband.instance_type, roce.cloud) == ("aws", "p4d.24xlarge", None)
    assert roce.kernel_command_line is not None
    assert "iommu=pt" in roce.kernel_command_line
    assert roce.sysctls is not None
    assert roce.sysctls["net.ipv4.conf.all.arp_ignore"] == "1"


@pytest.mark.parametrize(
    ("files", "fields"),
    [
        ({"sys/class/dmi/id/sys_vendor": "Microsoft Corporation",
          "sys/class/dmi/id/chassis_asset_tag": "7783-7084-3265-9085-8269-3286-77"}, {"cloud": "azure"}),
        ({"sys/class/dmi/id/chassis_asset_tag": "OracleCloud.com"}, {"cloud": "oci"}),
        ({"sys/class/dmi/id/sys_vendor": "Google", "sys/class/dmi/id/product_name": "Google Compute Engine"},
         {"cloud": "gcp", "instance_type": None}),
        ({"proc/1/cgroup": "12:cpuset:/kubepods/burstable/pod1/abc"}, {"in_container": True}),
        ({"proc/1/comm": "python3"}, {"in_container": None}),
        ({"sys/kernel/iommu_groups/0/x": ""}, {"iommu_translating": None}),
        ({"proc/cmdline": "quiet my_token=abcdef"}, {"kernel_command_line": "quiet my_token=***"}),
        ({"proc/driver/nvidia/version": "garbage"}, {"driver": None, "open_kernel_module": None}),
    ],
)  # fmt: skip
def test_single_facts(
    tmp_path: Path, files: dict[str, str | bytes], fields: dict[str, Any], write: Write, host_of: HostOf, every: Every
) -> None:
    tree = write(tmp_path, {"etc/hostname": "n1", **files})
    host = host_of([Observation(entity="Host", host="n1", span=tree.fact("etc/hostname", "Host").span), *every(tree)])
    assert {name: getattr(host, name) for name in fields} == fields


def test_shared_memory(pod: Host, infiniband: Host) -> None:
    assert [(m.path, m.filesystem, m.size_bytes) for m in pod.mounts] == [(SHM, "shm", 64 << 20)]
    assert infiniband.mounts == (), "a recorded tree without a size option does not tell it"
    if Path(SHM).exists():
        status = os.statvfs(SHM)
        [mount] = [o for o in sysfs_host.shared_memory(HERE) if o.entity == "Mount"]
        assert mount.fields["size_bytes"] == status.f_blocks * status.f_frsize
