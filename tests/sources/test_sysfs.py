"""Files under a root: the recorded trees in fixtures/roots, odd trees made here, this machine's own /sys and /proc."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ncdiag.facts.model import Host, Interface
from ncdiag.facts.observe import ENTITIES, Observation
from ncdiag.read import job_of
from ncdiag.sources import sockets, sysfs, sysfs_host, sysfs_net, sysfs_pci, sysfs_rdma
from ncdiag.sources.live import collect
from ncdiag.sources.tree import Tree, natural

SHM = "/dev/shm"  # noqa: S108  (it is the subject)
HERE = Tree(Path("/"), "here")


def host_of(observations: list[Observation]) -> Host:
    job = job_of([], observations)
    assert job.conflicts == ()
    [host] = job.hosts
    return host


@pytest.fixture(scope="module")
def recorded(project: Path) -> Callable[[str], Host]:
    return lambda name: host_of(collect(project / "fixtures" / "roots" / name).observations)


@pytest.fixture(scope="module")
def roce(recorded: Callable[[str], Host]) -> Host:
    return recorded("roce8")


@pytest.fixture(scope="module")
def infiniband(recorded: Callable[[str], Host]) -> Host:
    return recorded("ib-initializing")


@pytest.fixture(scope="module")
def pod(recorded: Callable[[str], Host]) -> Host:
    return recorded("pod-without-rdma")


def write(root: Path, files: dict[str, str | bytes]) -> Tree:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return Tree(root, "n1")


# RDMA


def test_roce_rails(roce: Host) -> None:
    assert roce.name == "cedar-gpu07"
    assert [hca.name for hca in roce.hcas] == [f"mlx5_{n}" for n in range(8)]
    third = roce.hcas[3]
    assert (third.bus_id, third.numa_node, third.firmware, third.board) == ("0000:5d:00.0", 0, "28.39.2048", "MT4129")
    assert (third.node_guid, third.driver) == ("946d:ae03:0020:0703", "mlx5_core")
    [port] = third.ports
    assert (port.state, port.physical_state, port.rate_gbps, port.link_layer) == ("active", "LinkUp", 400.0, "Ethernet")
    assert (port.lid, port.sm_lid, port.netdev, port.gids_complete) == (0, 0, "rail3", True)
    assert [(gid.index, gid.type, gid.ip, gid.netdev) for gid in port.gids] == [
        (0, "RoCE v1", None, "rail3"), (1, "RoCE v2", None, "rail3"), (2, "RoCE v1", None, "rail3"),
        (3, "RoCE v2", None, "rail3"), (4, "RoCE v1", "10.61.3.7", "rail3"), (5, "RoCE v2", "10.61.3.7", "rail3"),
    ]  # fmt: skip
    assert port.gids[5].address == "0000:0000:0000:0000:0000:ffff:0a3d:0307"
    assert port.counters is not None
    assert port.counters["out_of_sequence"] == 36
    assert "lifespan" not in port.counters
    assert roce.hcas[6].ports[0].counters == {
        "link_downed": 1, "port_xmit_wait": 0, "symbol_error": 0, "out_of_sequence": 72, "rnr_nak_retry_err": 0,
    }  # fmt: skip
    assert {"sysfs_infiniband", "interfaces", "sysfs_pci", "lsmod", "ulimit", "routes"} <= roce.complete


def test_evidence_is_the_file_that_told_it(roce: Host, project: Path) -> None:
    base = project / "fixtures/roots/roce8/sys/class/infiniband/mlx5_3/ports/1"
    gid = roce.hcas[3].ports[0].gids[5]
    for fact, field, file in ((gid, "type", "gid_attrs/types/5"), (roce.hcas[3].ports[0], "state", "state")):
        span = fact.provenance[field]
        assert (span.source, span.line) == (str(base / file), 1)
        assert span.text == (base / file).read_text().strip()


def test_an_infiniband_port_without_subnet_manager(infiniband: Host) -> None:
    good, bad = (hca.ports[0] for hca in infiniband.hcas)
    assert (good.state, good.lid, good.sm_lid, good.netdev) == ("active", 28, 1, "ib0")
    assert (bad.state, bad.physical_state, bad.lid, bad.sm_lid) == ("init", "LinkUp", 0, 0)
    assert [gid.type for gid in bad.gids] == ["IB"]
    assert infiniband.hcas[1].numa_node is None, "-1 is unknown"
    assert infiniband.infiniband_devices == ("umad0", "uverbs0", "uverbs1")


def test_no_rdma_is_known_where_sys_is_there(pod: Host, tmp_path: Path) -> None:
    assert pod.hcas == ()
    assert "sysfs_infiniband" in pod.complete
    assert pod.infiniband_devices == ()
    nothing = write(tmp_path, {"etc/hostname": "x"})
    assert list(sysfs_rdma.rdma(nothing)) == []
    assert list(sysfs_host.infiniband_devices(nothing)) == []


def test_a_two_port_card_and_a_foreign_namespace(tmp_path: Path) -> None:
    base = "sys/class/infiniband/rocep65s0"
    gids = {f"{base}/ports/{n}/gids/0": "fe80:0000:0000:0000:0202:c9ff:fe00:000" + str(n) for n in (1, 2)}
    nets = {f"{base}/device/net/enp65s0{n}/dev_port": str(n) for n in (0, 1)}
    interfaces = {f"sys/class/net/enp65s0{n}/type": "1" for n in (0, 1)}
    layers = {f"{base}/ports/{n}/link_layer": "Ethernet" for n in (1, 2)}
    tree = write(tmp_path, {**gids, **nets, **layers, **interfaces, f"{base}/ports/1/state": "9: NEW"})
    host = host_of(list(sysfs_rdma.rdma(tree)))
    assert [port.netdev for port in host.hcas[0].ports] == ["enp65s00", "enp65s01"]
    assert [gid.type for port in host.hcas[0].ports for gid in port.gids] == [None, None], "types were not readable"
    assert host.hcas[0].ports[0].state is None
    assert {i.name: i.hca for i in host.interfaces} == {"enp65s00": "rocep65s0", "enp65s01": "rocep65s0"}


def test_real_sysfs_layout_with_links(tmp_path: Path) -> None:
    device = "sys/devices/pci0000:40/0000:40:01.1/0000:41:00.0"
    tree = write(
        tmp_path,
        {
            f"{device}/infiniband/mlx5_bond_0/ports/1/gid_attrs/ndevs/0": "bond0\n",
            f"{device}/infiniband/mlx5_bond_0/ports/1/gids/0": "fe80:0000:0000:0000:0202:c9ff:fe00:0001\n",
            f"{device}/numa_node": "1\n",
            "sys/class/net/bond0/type": "1\n",
        },
    )
    (tmp_path / "sys/class/infiniband").mkdir(parents=True)
    (tmp_path / "sys/class/infiniband/mlx5_bond_0").symlink_to(f"../../../{device}/infiniband/mlx5_bond_0")
    (tmp_path / device / "infiniband/mlx5_bond_0/device").symlink_to("../../../0000:41:00.0")
    host = host_of(list(sysfs_rdma.rdma(tree)))
    assert (host.hcas[0].bus_id, host.hcas[0].numa_node, host.hcas[0].ports[0].netdev) == ("0000:41:00.0", 1, "bond0")


# interfaces, addresses, routes


def named(host: Host) -> dict[str, Interface]:
    return {interface.name: interface for interface in host.interfaces}


def ips(interface: Interface) -> list[tuple[str, int | None]]:
    return [(address.ip, address.prefix_len) for address in interface.addresses or ()]


def test_interfaces_of_recorded_trees(roce: Host, infiniband: Host, pod: Host) -> None:
    assert [i.name for i in roce.interfaces] == ["lo", "eno1", *(f"rail{n}" for n in range(8))]
    rail = named(roce)["rail3"]
    assert (rail.kind, rail.up, rail.running, rail.mtu) == ("physical", True, True, 9000)
    assert (rail.speed_mbps, rail.hca, rail.ifindex) == (400000, "mlx5_3", 6)
    assert ips(rail) == [("10.61.3.7", 24), ("fd61:3::7", 64), ("fe80::966d:aeff:fe20:703", 64)]
    assert ips(named(roce)["eno1"])[0] == ("10.60.1.7", 22)
    ib1 = named(infiniband)["ib1"]
    assert (ib1.kind, ib1.up, ib1.running, ib1.speed_mbps, ips(ib1)) == ("ipoib", False, False, None, [])
    kinds = {i.name: (i.kind, i.running) for i in pod.interfaces}
    assert kinds == {"lo": ("loopback", True), "tunl0": ("tunnel", False), "eth0": ("veth", True)}
    assert ips(named(pod)["eth0"]) == [("10.244.3.18", 24)]


@pytest.mark.parametrize(
    ("files", "kind"),
    [
        ({"bridge/stp_state": "0"}, "bridge"),
        ({"bonding/slaves": "eth0 eth1"}, "bond"),
        ({"tun_flags": "0x1002"}, "tunnel"),
        ({"uevent": "DEVTYPE=vlan\nINTERFACE=x"}, "vlan"),
        ({"uevent": "DEVTYPE=vxlan"}, "tunnel"),
        ({"uevent": "DEVTYPE=wlan", "device/uevent": "DRIVER=iwlwifi"}, "wireless"),
        ({"type": "32", "device/uevent": "DRIVER=mlx5_core"}, "ipoib"),
        ({"device/uevent": "DRIVER=virtio_net"}, "physical"),
        ({"ifindex": "7", "iflink": "8"}, "veth"),
        ({"ifindex": "7", "iflink": "2", "lower_eth0/x": ""}, "virtual"),
        ({"ifindex": "7", "iflink": "7"}, "virtual"),
        ({"type": "65534", "ifindex": "7", "iflink": "7"}, "tunnel"),
    ],
)
def test_kinds_are_told_from_files(tmp_path: Path, files: dict[str, str], kind: str) -> None:
    tree = write(tmp_path, {f"sys/class/net/x/{name}": text for name, text in {"type": "1", **files}.items()})
    assert sysfs_net.kind_of_interface(tree, "x")[1] == kind
    [found] = host_of(list(sysfs_net.interfaces(tree))).interfaces
    assert found.kind == kind


def test_bond_members_masters_and_vlans_by_proc(tmp_path: Path) -> None:
    tree = write(
        tmp_path,
        {
            "sys/class/net/bond0/type": "1", "sys/class/net/bond0/bonding/slaves": "eth0 eth1\n",
            "sys/class/net/eth0/type": "1", "sys/class/net/eth0/master": "bond0",
            "sys/class/net/br0/type": "1", "sys/class/net/br0/bridge/x": "", "sys/class/net/br0/brif/veth1/x": "",
            "sys/class/net/v20/type": "1", "proc/net/vlan/v20": "v20 VID: 20",
            "sys/class/net/bonding_masters": "bond0\n",
        },
    )  # fmt: skip
    found = named(host_of(list(sysfs_net.interfaces(tree))))
    assert found["bond0"].slaves == ("eth0", "eth1")
    assert found["eth0"].master == "bond0"
    assert found["br0"].slaves == ("veth1",)
    assert found["v20"].kind == "vlan"
    assert "bonding_masters" not in found


def test_routes(roce: Host) -> None:
    found = {(route.destination, route.interface): (route.gateway, route.metric) for route in roce.routes}
    assert found["default", "eno1"] == ("10.60.0.1", 100)
    assert found["10.61.7.0/24", "rail7"] == (None, 108)
    assert found["fe80::/64", "eno1"] == (None, 256)


def test_the_lowest_metric_of_two_default_routes_and_bad_lines(tmp_path: Path) -> None:
    lines = [
        "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT",
        "eth0\t00000000\t0101A8C0\t0003\t0\t0\t200\t00000000\t0\t0\t0",
        "eth0\t00000000\t0201A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0",
        "eth1\t0000000A\t00000000\t0000\t0\t0\t0\t000000FF\t0\t0\t0",
        "eth2\t0000000A\t00000000\t0001\t0\t0\t0\t00FF00FF\t0\t0\t0",
        "eth3\tFFFFFFFFFF\t0\t1\t0\t0\t0\t0",
        "short line",
    ]
    host = host_of(list(sysfs_net.routes(write(tmp_path, {"proc/net/route": "\n".join(lines)}))))
    assert [(r.destination, r.interface, r.gateway) for r in host.routes] == [("default", "eth0", "192.168.1.2")]


def test_an_ipv4_address_that_two_interfaces_could_have_is_left_out(tmp_path: Path) -> None:
    row = "{}\t0001A8C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0"
    table = "\n".join(["Iface", row.format("eth0"), row.format("eth1")])
    trie = "Local:\n     |-- 192.168.1.9\n        /32 host LOCAL\n     |-- 999.1.1.1\n        /32 host LOCAL\n"
    tree = write(tmp_path, {"proc/net/route": table, "proc/net/fib_trie": trie, "proc/net/if_inet6": "zz 1 2\nx"})
    assert sockets.recorded_addresses(tree) == {}
    assert sockets.recorded_addresses(write(tmp_path / "none", {"x": ""})) is None


@pytest.mark.parametrize("text", ["", "{}", "[1]", '[{"ifname": 3, "addr_info": [{"family": "inet"}]}]', "[" * 9999])
def test_odd_output_of_ip_is_no_exception(text: str) -> None:
    assert not sockets.addresses_from_json(text)


def test_what_psutil_ip_and_the_kernel_tables_say_of_this_machine_agrees() -> None:
    import json
    import shutil
    import subprocess

    known = sockets.live_addresses()
    assert known is not None
    ours = {name: sorted(item["ip"] for item in items) for name, items in known.items() if items}
    from_tables = sockets.recorded_addresses(HERE)
    if from_tables is not None:
        told = {name: sorted(item["ip"] for item in items) for name, items in from_tables.items() if items}
        assert told.items() <= ours.items()
    if shutil.which("ip"):
        ran = subprocess.run(["ip", "-j", "addr"], capture_output=True, text=True, check=True)
        by_ip = sockets.addresses_from_json(ran.stdout)
        assert by_ip is not None
        assert {name: list(items) for name, items in by_ip.items()} == {n: list(i) for n, i in known.items() if i}
        order = [link["ifname"] for link in json.loads(ran.stdout)]
        assert sysfs_net.ordered(HERE) == order


# PCI, modules, limits and the rest


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
def test_acs(tmp_path: Path, space: bytes, control: int | None) -> None:
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
def test_single_facts(tmp_path: Path, files: dict[str, str | bytes], fields: dict[str, Any]) -> None:
    tree = write(tmp_path, {"etc/hostname": "n1", **files})
    host = host_of([Observation(entity="Host", host="n1", span=tree.fact("etc/hostname", "Host").span), *every(tree)])
    assert {name: getattr(host, name) for name in fields} == fields


def every(tree: Tree) -> Iterator[Observation]:
    for read in sysfs.readers().values():
        yield from read(tree)


def test_shared_memory(pod: Host, infiniband: Host) -> None:
    assert [(m.path, m.filesystem, m.size_bytes) for m in pod.mounts] == [(SHM, "shm", 64 << 20)]
    assert infiniband.mounts == (), "a recorded tree without a size option does not tell it"
    if Path(SHM).exists():
        status = os.statvfs(SHM)
        [mount] = [o for o in sysfs_host.shared_memory(HERE) if o.entity == "Mount"]
        assert mount.fields["size_bytes"] == status.f_blocks * status.f_frsize


# the tree itself


def test_links_out_of_a_recorded_tree_are_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("outside")
    root = tmp_path / "root"
    (root / "proc").mkdir(parents=True)
    (root / "proc/cmdline").symlink_to(secret)
    (root / "sys").symlink_to("/sys")
    os.mkfifo(root / "proc/modules")
    (root / "inside").write_text("fine")
    (root / "link").symlink_to("inside")
    tree = Tree(root, "n1")
    assert tree.text("proc/cmdline") is None
    assert tree.names("sys/class/net") is None
    assert tree.refused["proc/cmdline"] == "leads out of the recorded tree"
    assert tree.text("link") == "fine"
    assert tree.data("proc/modules") == b"", "a pipe does not block"
    assert "outside" not in str(list(every(tree)))


def test_names_are_in_natural_order() -> None:
    names = ["mlx5_10", "mlx5_2", "mlx5_bond_0", "a", "10", "9", "9" * 40]
    assert sorted(names, key=natural)[-3:] == ["mlx5_2", "mlx5_10", "mlx5_bond_0"]


def test_garbage_in_every_file_is_unknown_and_no_exception(project: Path, tmp_path: Path) -> None:
    source = project / "fixtures" / "roots" / "roce8"
    garbage = [b"", b"\xff\xfe\0\0", b"-1\n", b"9" * 500, b"\n\n\n", "²³ GT/s".encode(), b": :\t: \0"]
    for index, path in enumerate(sorted(p for p in source.rglob("*") if p.is_file())):
        target = tmp_path / path.relative_to(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(garbage[index % len(garbage)])
    host = host_of(collect(tmp_path, host="n1").observations)
    assert host.name == "n1"
    assert not any(port.state for hca in host.hcas for port in hca.ports)


def test_files_where_folders_should_be(tmp_path: Path) -> None:
    tree = write(tmp_path, {"sys/class": "x", "proc/net": "x", "dev": "x", "sys/bus/pci/devices": "x"})
    assert all(o.entity in ENTITIES for o in every(tree))
    assert collect(tmp_path).not_seen


def test_this_machine(tmp_path: Path) -> None:
    assert not list(every(Tree(tmp_path, "n1"))), "nothing there, nothing claimed"
    found = list(every(HERE))
    assert {o.entity for o in found} <= set(ENTITIES)
    assert "ulimit" in sysfs.complete(found)
    host_of([*found, *sysfs_net.interfaces(HERE), *sockets.addresses(HERE, sockets.live_addresses())])
