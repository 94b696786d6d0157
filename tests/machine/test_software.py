"""Control groups, namespaces, RDMA libraries, IMEX, AMD GPUs, SR-IOV: each format once, and what is no answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from ncdiag.facts.model import Host
from ncdiag.facts.observe import Observation
from ncdiag.machine import sysfs_groups, sysfs_software, sysfs_system, texts
from ncdiag.machine.recording import Recorded, ReplayedTree
from ncdiag.machine.tree import Tree

Write = Callable[[Path, Mapping[str, str | bytes]], Tree]
HostOf = Callable[[list[Observation]], Host]
Every = Callable[[Tree], Iterator[Observation]]

GROUP = "sys/fs/cgroup"
SLURM = {"proc/self/cgroup": "0::/system.slice/job_7/step_0\n"}
PODS = {"proc/self/cgroup": "9:cpu,cpuacct:/kubepods/pod1\n4:memory:/kubepods/pod1\n3:pids:/../outside\n0::/\n"}
LIBRARIES = "usr/lib/x86_64-linux-gnu"
CHANNELS = "dev/nvidia-caps-imex-channels"


@pytest.mark.parametrize(
    ("files", "fields"),
    [
        (
            {
                **SLURM, f"{GROUP}/system.slice/job_7/memory.max": "2147483648\n",
                f"{GROUP}/system.slice/job_7/step_0/memory.max": "max\n", f"{GROUP}/memory.max": "4294967296\n",
            },
            {"memory_limit_bytes": 2 << 30},
        ),
        ({**PODS, f"{GROUP}/memory/kubepods/pod1/memory.limit_in_bytes": "1048576"}, {"memory_limit_bytes": 1 << 20}),
        ({f"{GROUP}/cpu.max": "250000 100000\n"}, {"cpu_limit": 2.5}),
        ({f"{GROUP}/cpu.max": "max 100000\n"}, {"cpu_limit": None}),
        ({f"{GROUP}/cpu.max": "5 0\n"}, {"cpu_limit": None}),
        ({f"{GROUP}/cpu.stat": "usage_usec 9\nnr_periods 200\nnr_throttled 150\n"}, {"cpu_throttled": 0.75}),
        ({f"{GROUP}/cpu.stat": "nr_periods 20\nnr_throttled 15\n"}, {"cpu_throttled": None}),
        ({**PODS, f"{GROUP}/cpu/kubepods/pod1/cpu.cfs_quota_us": "150000"}, {"cpu_limit": 1.5}),
        ({**PODS, f"{GROUP}/cpu/kubepods/pod1/cpu.cfs_quota_us": "-1"}, {"cpu_limit": None}),
        (
            {
                **SLURM, f"{GROUP}/memory.events": "oom_kill 9\n",
                f"{GROUP}/system.slice/job_7/step_0/memory.events": "oom 1\noom_kill 1\n",
            },
            {"oom_kills": 1},
        ),
        ({f"{LIBRARIES}/libibverbs.so.1.14.44.0": b"", f"{LIBRARIES}/libibverbs/libmlx5-rdmav34.so": b"",
          f"{LIBRARIES}/libibverbs/libefa-rdmav34.so": b"", f"{LIBRARIES}/libibverbs/README": b""},
         {"rdma_core_version": "44.0", "verbs_providers": ("efa", "mlx5")}),
        ({f"{LIBRARIES}/libibverbs.so.1.14.44.0": b""}, {"rdma_core_version": "44.0", "verbs_providers": ()}),
        ({f"{LIBRARIES}/libibverbs.so.1": b""}, {"rdma_core_version": None, "verbs_providers": None}),
        ({"sys/module/mlx5_core/version": "24.10-0.7.0\n"}, {"ofed_version": "24.10-0.7.0"}),
        ({"sys/module/mlx5_core/version": "5.0-0\n"}, {"ofed_version": None}),
        ({"dev/nvidiactl": b""}, {"imex_channels": (), "imex_nodes": None}),
        ({"dev/null": b""}, {"imex_channels": None}),
        (
            {f"{CHANNELS}/channel0": b"", "etc/nvidia-imex/nodes_config.cfg": "# domain\n10.0.0.1\n\n10.0.0.2 # two\n"},
            {"imex_channels": ("channel0",), "imex_nodes": 2},
        ),
        (
            {"sys/class/dmi/id/sys_vendor": "NVIDIA", "sys/class/dmi/id/product_name": "DGXH100"},
            {"machine": "NVIDIA DGXH100"},
        ),
    ],
)  # fmt: skip
def test_facts_of_the_host(
    tmp_path: Path, files: dict[str, str | bytes], fields: dict[str, Any], write: Write, host_of: HostOf, every: Every
) -> None:
    tree = write(tmp_path, {"etc/hostname": "n1", **files})
    known = Observation(entity="Host", host="n1", span=tree.fact("etc/hostname", "Host").span)
    host = host_of([known, *every(tree)])
    assert {name: getattr(host, name) for name in fields} == fields


def test_processes_that_a_group_may_have(tmp_path: Path, write: Write) -> None:
    tree = write(tmp_path, {**SLURM, f"{GROUP}/pids.max": "900\n", f"{GROUP}/system.slice/pids.max": "512\n"})
    [limit] = [o for o in sysfs_groups.group(tree) if o.entity == "Limit"]
    assert (limit.key, limit.fields["soft"], limit.span.source) == (
        ("pids",), 512, f"{tmp_path}/{GROUP}/system.slice/pids.max",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("links", "own"),
    [
        ({"pid": 4026531836, "ipc": 4026531839, "uts": 4026531838}, []),
        ({"pid": 4026532111, "ipc": 4026531839}, ["pid"]),
        ({"pid": 4026531836, "net": 4026532222, "1/net": 4026531840}, ["net"]),
        ({"pid": 4026531836, "net": 4026531840, "1/net": 4026531840}, []),
        ({"pid": 4026532111, "net": 4026532222, "1/net": 4026532223}, ["pid"]),
        ({"net": 4026532222}, None),
        ({}, None),
    ],
)
def test_namespaces(links: dict[str, int], own: list[str] | None) -> None:
    targets = {}
    for name, number in links.items():
        process, _, kind = name.rpartition("/")
        targets[f"proc/{process or 'self'}/ns/{kind}"] = f"{kind}:[{number}]"
    tree = ReplayedTree(Recorded(host="n1", links=targets), "x")
    assert [o.fields["own_namespaces"] for o in sysfs_groups.namespaces(tree)] == ([] if own is None else [own])


def test_this_process_and_its_group() -> None:
    here = Tree(Path("/"), "here")
    [found] = list(sysfs_groups.namespaces(here))
    assert set(found.fields["own_namespaces"]) <= {"ipc", "uts", "user", "pid", "cgroup", "time", "net"}
    for observation in sysfs_groups.group(here):
        assert all(value >= 0 for value in observation.fields.values())


def test_the_state_of_the_clock() -> None:
    before = time.time()
    now, found = list(sysfs_system.clock(Tree(Path("/"), "here")))
    assert before <= now.fields["examined_at"] <= time.time()
    assert isinstance(found.fields["clock_synchronized"], bool)
    told = [
        [o.fields["clock_synchronized"] for o in sysfs_system.clock(ReplayedTree(Recorded(host="n1", answers=a), "x"))]
        for a in ({"clock status": 0x2001}, {"clock status": 0x40}, {"clock status": None}, {})
    ]
    assert told == [[True], [False], [], []]


def test_an_installed_rdma_core_is_seen(need: Callable[[str, object, str], None]) -> None:
    found = {name: value for o in sysfs_software.rdma_core(Tree(Path("/"), "n")) for name, value in o.fields.items()}
    need("rdma-core", found, "no libibverbs is installed here")
    assert float(found["rdma_core_version"]) > 10
    assert "mlx5" in found["verbs_providers"]


def test_amd_gpus_and_their_links(tmp_path: Path, write: Write, host_of: HostOf, every: Every) -> None:
    nodes, pci = "sys/class/kfd/kfd/topology/nodes", "sys/bus/pci/devices"
    gpu = "vendor_id 4098\nlocation_id {}\ndomain {}\nsimd_count 1216\nunique_id 99999999999999999999999999\n"
    files = {
        f"{nodes}/0/properties": "cpu_cores_count 96\nvendor_id 0\nlocation_id 0\n",
        f"{nodes}/1/properties": gpu.format(0xC600, 0), f"{nodes}/2/properties": gpu.format(0x4400, 0),
        f"{nodes}/3/properties": gpu.format(0x0500, 1), f"{nodes}/x/properties": gpu.format(1, 1),
        f"{nodes}/1/io_links/0/properties": "type 2\nnode_from 1\nnode_to 0\n",
        f"{nodes}/1/io_links/1/properties": "type 11\nnode_from 1\nnode_to 2\n",
        f"{nodes}/2/io_links/0/properties": "type 11\nnode_from 2\nnode_to 1\n",
        f"{nodes}/2/p2p_links/0/properties": "type 2\nnode_from 2\nnode_to 3\n",
        f"{nodes}/3/io_links/0/properties": "nonsense\ntype 11\nnode_to 99\n",
        f"{pci}/0000:44:00.0/mem_info_vram_total": "206141652992\n", f"{pci}/0000:44:00.0/numa_node": "0\n",
        f"{pci}/0000:44:00.0/product_name": "AMD Instinct MI300X\n", "sys/module/amdgpu/version": "6.8.5\n",
    }  # fmt: skip
    host = host_of(list(every(write(tmp_path, files))))
    assert [(gpu.index, gpu.bus_id, gpu.driver) for gpu in sorted(host.gpus, key=lambda g: g.index or 0)] == [
        (0, "0000:44:00.0", "6.8.5"), (1, "0000:c6:00.0", "6.8.5"), (2, "0001:05:00.0", "6.8.5"),
    ]  # fmt: skip
    [first] = [gpu for gpu in host.gpus if gpu.index == 0]
    assert (first.model, first.memory_mib, first.numa_node) == ("AMD Instinct MI300X", 196592, 0)
    assert {(link.a, link.b): (link.level, link.path_type) for link in host.links} == {
        ("GPU0", "GPU1"): ("XGMI", "NVL"), ("GPU0", "GPU2"): ("PCIE", None),
    }  # fmt: skip


def test_virtual_functions_and_vlans(tmp_path: Path, write: Write, host_of: HostOf, every: Every) -> None:
    pci, net = "sys/bus/pci/devices", "sys/class/net"
    files = {
        f"{pci}/0000:18:00.0/class": "0x020000\n", f"{pci}/0000:18:00.0/sriov_numvfs": "4\n",
        f"{pci}/0000:18:00.0/sriov_totalvfs": "16\n", f"{pci}/0000:18:00.2/class": "0x020000\n",
        f"{net}/ens1f0/type": "1", f"{net}/ens1f0/device/uevent": "DRIVER=mlx5_core\nPCI_SLOT_NAME=0000:18:00.0\n",
        f"{net}/ens1f0v0/type": "1", f"{net}/ens1f0v0/device/uevent": "PCI_SLOT_NAME=0000:18:00.2\n",
        f"{net}/ens1f0v0/device/physfn/uevent": "", f"{net}/ens1f0.20/uevent": "DEVTYPE=vlan\n",
        f"{net}/ens1f0.20/type": "1", f"{net}/ens1f0.20/lower_ens1f0/x": "",
    }  # fmt: skip
    tree = write(tmp_path, files)
    (tmp_path / pci / "0000:18:00.2/physfn").symlink_to("../0000:18:00.0")
    host = host_of(list(every(tree)))
    whole, part = host.pci
    assert (whole.virtual_functions, whole.virtual_functions_max, part.physical_function) == (4, 16, "0000:18:00.0")
    interfaces = {interface.name: interface for interface in host.interfaces}
    assert [interfaces[name].virtual_function for name in ("ens1f0", "ens1f0v0", "ens1f0.20")] == [False, True, None]
    assert (interfaces["ens1f0v0"].bus_id, interfaces["ens1f0.20"].parent) == ("0000:18:00.2", "ens1f0")


def test_partition_keys_and_counters_of_the_device(tmp_path: Path, write: Write, host_of: HostOf, every: Every) -> None:
    device = "sys/class/infiniband/rocep1s0"
    files = {
        f"{device}/ports/1/pkeys/0": "0xffff\n", f"{device}/ports/1/pkeys/1": "0x8005\n",
        f"{device}/ports/1/pkeys/2": "0x0000\n", f"{device}/ports/1/counters/symbol_error": "3\n",
        f"{device}/hw_counters/lifespan": "10\n", f"{device}/hw_counters/rnr_nak_retry_err": "8\n",
    }  # fmt: skip
    port = host_of(list(every(write(tmp_path, files)))).hcas[0].ports[0]
    assert port.pkeys == ("0xffff", "0x8005")
    assert port.counters == {"symbol_error": 3, "rnr_nak_retry_err": 8}


BOND = """Ethernet Channel Bonding Driver: v5.15.0

Bonding Mode: IEEE 802.3ad Dynamic link aggregation
MII Status: up

Slave Interface: ens3f0
MII Status: up
Speed: 100000 Mbps

Slave Interface: ens3f1
MII Status: down
"""


def test_bonds_by_the_kernels_own_text(tmp_path: Path, write: Write, host_of: HostOf) -> None:
    found = list(texts.bonding(write(tmp_path, {"proc/net/bonding/bond0": BOND})))
    interfaces = {interface.name: interface for interface in host_of(found).interfaces}
    assert interfaces["bond0"].bond_mode == "IEEE 802.3ad Dynamic link aggregation"
    assert [(interfaces[name].master, interfaces[name].running) for name in ("ens3f0", "ens3f1")] == [
        ("bond0", True), ("bond0", False),
    ]  # fmt: skip
    assert found[0].span.source == f"{tmp_path}/proc/net/bonding/bond0"


def test_sysctls_of_interfaces_that_lead_out(tmp_path: Path, write: Write, host_of: HostOf, every: Every) -> None:
    conf = "proc/sys/net/ipv4/conf"
    files = {f"{conf}/{name}/rp_filter": "2\n" for name in ("all", "eth0", "veth9")}
    tree = write(tmp_path, {**files, "sys/class/net/eth0/device/uevent": "", "sys/class/net/veth9/type": "1"})
    assert host_of(list(every(tree))).sysctls == {
        "net.ipv4.conf.all.rp_filter": "2", "net.ipv4.conf.eth0.rp_filter": "2",
    }  # fmt: skip


def test_what_a_process_has_loaded() -> None:
    maps = (
        "7f10-7f20 r--p 00000000 fd:01 77  /opt/nccl/libnccl.so.2.27.7\n"
        "7f20-7f30 r-xp 00010000 fd:01 77  /opt/nccl/libnccl.so.2.27.7\n"
        "7f40-7f50 r-xp 00000000 fd:01 78  /opt/ofi/libnccl-net.so (deleted)\n"
        "7f60-7f70 rw-p 00000000 00:00 0   [heap]\n"
    )
    recorded = Recorded(host="n1", files={"proc/88/maps": maps.encode()}, answers={"process": 88})
    found = list(sysfs_system.loaded(ReplayedTree(recorded, "x")))
    assert [(o.key, o.fields) for o in found] == [
        (("/opt/nccl/libnccl.so.2.27.7",), {"loaded": True}), (("/opt/ofi/libnccl-net.so",), {"loaded": True}),
    ]  # fmt: skip
    assert list(sysfs_system.loaded(Tree(Path("/"), "n1"))) == [], "without a process in question"
