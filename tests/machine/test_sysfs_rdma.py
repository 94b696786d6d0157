"""RDMA devices of recorded trees and of odd ones made here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from ncdiag.facts.model import Host
from ncdiag.facts.observe import Observation
from ncdiag.machine import sysfs_host, sysfs_rdma
from ncdiag.machine.tree import Tree

Write = Callable[[Path, Mapping[str, str | bytes]], Tree]
HostOf = Callable[[list[Observation]], Host]


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


def test_no_rdma_is_known_where_sys_is_there(pod: Host, tmp_path: Path, write: Write) -> None:
    assert pod.hcas == ()
    assert "sysfs_infiniband" in pod.complete
    assert pod.infiniband_devices == ()
    nothing = write(tmp_path, {"etc/hostname": "x"})
    assert list(sysfs_rdma.rdma(nothing)) == []
    assert list(sysfs_host.infiniband_devices(nothing)) == []


def test_a_two_port_card_and_a_foreign_namespace(tmp_path: Path, write: Write, host_of: HostOf) -> None:
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


def test_real_sysfs_layout_with_links(tmp_path: Path, write: Write, host_of: HostOf) -> None:
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
