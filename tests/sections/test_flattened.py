"""Outputs of which a page or a chat made one line are read as they were printed."""

from __future__ import annotations

import pytest
from linear import assert_linear_time

from ncdiag.facts.model import Job
from ncdiag.text.reading.job import job_of
from ncdiag.text.reading.one import read_source
from ncdiag.text.sections.flattened import in_rows
from ncdiag.text.sections.line import lines_of
from ncdiag.text.sources.files import TextSource

IBV = [
    "hca_id: mlx5_3", "transport: InfiniBand (0)", "fw_ver: 28.39.1002", "node_guid: 9c63:c003:0021:7ac0",
    "vendor_part_id: 4129", "phys_port_cnt: 1", "port: 1", "state: PORT_DOWN (1)", "max_mtu: 4096 (5)",
    "sm_lid: 0", "port_lid: 0", "port_lmc: 0x00", "link_layer: Ethernet",
]  # fmt: skip
IBSTAT = [
    "CA 'mlx5_2'", "CA type: MT4129", "Number of ports: 1", "Firmware version: 28.39.1002", "Hardware version: 0",
    "Node GUID: 0x9c63c00300217ac0", "System image GUID: 0x9c63c00300217ac0", "Port 1:", "State: Active",
    "Physical state: LinkUp", "Rate: 400", "Base lid: 44", "LMC: 0", "SM lid: 2", "Capability mask: 0xa651e848",
    "Port GUID: 0x9c63c00300217ac0", "Link layer: InfiniBand",
]  # fmt: skip
GIDS = [
    "[ops@gn3 ~]$ ibv_devinfo -v -d mlx5_6 | grep GID", "GID[  0]: fe80:0000:0000:0000:9e63:c0ff:fe21:7ac0, RoCE v1",
    "GID[  1]: fe80::9e63:c0ff:fe21:7ac0, RoCE v2", "GID[  2]: 0000:0000:0000:0000:0000:ffff:0a01:0203, RoCE v1",
    "GID[  3]: ::ffff:10.1.2.3, RoCE v2",
]  # fmt: skip
ROWS = {
    "ibv_devinfo": IBV,
    "ibv_devinfo behind a sentence": ["The second node prints", *IBV],
    "ibstat": ["[ops@gn3 ~]$ ibstat", *IBSTAT],
    "GIDs": GIDS,
    "ibdev2netdev": ["mlx5_0 port 1 ==> ib0 (Up)", "mlx5_1 port 1 ==> ib1 (Down)"],
    "rdma link": [
        "link mlx5_0/1 state ACTIVE physical_state LINK_UP netdev eth2",
        "link mlx5_1/1 state DOWN physical_state DISABLED netdev eth3",
    ],
    "nvidia-smi -L": [
        f"GPU {index}: NVIDIA H100 80GB HBM3 (UUID: GPU-0a1b2c3d-1111-2222-3333-44445555666{index})" for index in (0, 1)
    ],
    "ip addr": [
        "1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN group default qlen 1000",
        "link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00", "inet 127.0.0.1/8 scope host lo",
        "valid_lft forever preferred_lft forever",
        "2: ens5: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 9001 qdisc mq state UP group default qlen 1000",
        "link/ether 0e:1f:2a:aa:bb:cc brd ff:ff:ff:ff:ff:ff", "inet 10.0.3.4/20 brd 10.0.15.255 scope global ens5",
    ],
}  # fmt: skip


@pytest.mark.parametrize("rows", ROWS.values(), ids=ROWS)
def test_rows_on_one_line_stand_on_lines_of_their_own(rows: list[str]) -> None:
    found = in_rows(lines_of("\n".join(["before", " ".join(rows), "after"])))
    assert [line.text for line in found] == ["before", *rows, "after"]
    assert [line.number for line in found] == [1, *[2] * len(rows), 3]


@pytest.mark.parametrize("rows", ROWS.values(), ids=ROWS)
def test_rows_stay_as_they_are_and_commands_too(rows: list[str]) -> None:
    lines = lines_of("\n".join(rows))
    assert in_rows(lines) == lines


@pytest.mark.parametrize(
    "text",
    [
        "The port is down: (state: PORT_DOWN, link_layer: Ethernet) on hca_id: mlx5_0, I think",
        "CA type: MT4129 and State: Active is what ibstat said",
        "GID[0] is link-local and GID[3] is what we use",
        "mlx5_0 port 1 ==> ib0 (Up)",
        "2: ib0: <BROADCAST,UP> mtu 2044 qdisc mq state UP group default qlen 256\\    link/infiniband 00:11 brd ff",
        "n1:5:9 [0] NCCL INFO a GID[ 0]: fe80::1 GID[ 1]: fe80::2",
    ],
)
def test_other_lines_stay(text: str) -> None:
    lines = lines_of(text)
    assert in_rows(lines) == lines


def job(text: str) -> Job:
    return job_of([read_source(TextSource.of_bytes("paste.txt", text.encode()))])


def test_what_stands_on_one_line_is_read() -> None:
    (host,) = job(" ".join(GIDS) + "\n").hosts
    (hca,) = host.hcas
    assert (host.name, hca.name) == ("gn3", "mlx5_6")
    gids = [(gid.index, gid.ip, gid.type) for gid in hca.ports[0].gids]
    assert gids == [(0, None, "RoCE v1"), (1, None, "RoCE v2"), (2, "10.1.2.3", "RoCE v1"), (3, "10.1.2.3", "RoCE v2")]
    (port,) = job(" ".join(IBV) + "\n").hosts[0].hcas[0].ports
    assert (port.state, port.link_layer) == ("down", "Ethernet")
    (port,) = job(" ".join(ROWS["ibstat"]) + "\n").hosts[0].hcas[0].ports
    assert (port.state, port.rate_gbps, port.lid) == ("active", 400, 44)


@pytest.mark.parametrize("rows", ROWS.values(), ids=ROWS)
def test_long_lines_take_linear_time(rows: list[str]) -> None:
    assert_linear_time(in_rows, lambda size: lines_of(" ".join(rows * size)), 20)
