# ruff: noqa: E501  (log lines are as long as they are)
"""The lines that carry facts, in the wording of every release (grammar: the format strings at NVIDIA/nccl's tags)."""

from __future__ import annotations

from typing import Any

import pytest

from ncdiag.parsers.nccl_log.reading import CARRIED, CHOSEN, LISTED, STARTED, Init, read
from ncdiag.parsers.nccl_log.transports import Link, parse_link


def interface(name: str, ip: str | None = None) -> dict[str, Any]:
    return {"name": name} if ip is None else {"name": name, "addresses": [{"ip": ip}]}


def device(index: int, name: str, layer: str, **more: object) -> dict[str, Any]:
    return {"index": index, "name": name, "port": 1, "link_layer": layer, **more}


ETH, V6 = interface("eth0", "10.0.0.1"), interface("eth0", "fe80::1")

FIELDS: dict[str, tuple[str, dict[str, Any]]] = {
    "bootstrap 2.4": ("Bootstrap : Using [0]eth0:10.0.0.1<0> [1]veth1:fe80::2%veth1<0>", {"bootstrap_interface": ETH}),
    "bootstrap 2.8": ("Bootstrap : Using eth0:10.0.0.1<0>", {"bootstrap_interface": ETH}),
    "bootstrap 2.24": ("Bootstrap: Using eth0:10.0.0.1<0>", {"bootstrap_interface": ETH}),
    "bootstrap v6": ("Bootstrap : Using eth0:fe80::1%eth0<0>", {"bootstrap_interface": V6}),
    "bootstrap over RDMA": ("Bootstrap: Using mlx5_0:1", {}),
    "bootstrap without an address": ("Bootstrap : Using eth0:<0>", {"bootstrap_interface": interface("eth0")}),
    "sockets": (
        "NET/Socket : Using [0]eth0:10.0.0.1<0> [1]br-3f2a:172.18.0.1<0> [2]ib0.8001:fe80::3%ib0.8001<0>",
        {"socket_interfaces": [ETH, interface("br-3f2a", "172.18.0.1"), interface("ib0.8001", "fe80::3")]},
    ),
    "sideband 2.3": (
        "NET/IB : Using interface ib0 for sideband communication",
        {"oob_interface": interface("ib0"), "bootstrap_interface": interface("ib0")},
    ),
    "devices 2.4": (
        "NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_1:1/IB ; OOB eth0:10.0.0.1<0>",
        {"net_devices": [device(0, "mlx5_0", "RoCE"), device(1, "mlx5_1", "IB")], "oob_interface": ETH},
    ),
    "devices 2.12": (
        "NET/IB : Using [0]mlx5_0:1/RoCE [RO]; OOB eth0:10.0.0.1<0>",
        {"net_devices": [device(0, "mlx5_0", "RoCE")], "relaxed_ordering": True, "oob_interface": ETH},
    ),
    "merged devices 2.20": (
        "NET/IB : Using [0]={[0] mlx5_0:1/RoCE, [1] mlx5_1:1/RoCE} [1]mlx5_2:1/RoCE [RO]; OOB eth0:10.0.0.1<0>",
        {
            "net_devices": [device(0, "mlx5_0+mlx5_1", "RoCE"), device(1, "mlx5_2", "RoCE")],
            "relaxed_ordering": True, "oob_interface": ETH,
        },
    ),
    "devices of which somebody left some out": (
        "NET/IB : Using [0]mlx5_2:1/IB [1]mlx5_4:1/IB ... [5]mlx5_9:1/IB [RO]; OOB eth0:10.0.0.1<0>",
        {
            "net_devices_partial": [device(0, "mlx5_2", "IB"), device(1, "mlx5_4", "IB"), device(5, "mlx5_9", "IB")],
            "relaxed_ordering": True, "oob_interface": ETH,
        },
    ),
    "devices cut in the last one": (
        "NET/IB : Using [0]mlx5_2:1/IB/SHARP [1]mlx5_4:1/R",
        {"net_devices_partial": [device(0, "mlx5_2", "IB", sharp=True)]},
    ),
    "distances 2.3": ("CUDA Dev 3, IB Ports : mlx5_1/1(PHB) mlx5_2/2(SOC) ", {"nic_distances": ["PHB", "SOC"]}),
    "distances 2.3, cut": ("CUDA Dev 3, IB Ports : mlx5_1/1(PHB) mlx5_2/2(SO", {"nic_distances": ["PHB"]}),
    "distances of sockets 2.3": ("CUDA Dev 3, IP Interfaces : em1(PIX) em2.40(SOC)", {"nic_distances": ["PIX", "SOC"]}),
    "devices with rails 2.30": (
        "NET/IB : Using [0]mlx5_0:1:0:1/RoCE [RO]; OOB eth0:10.0.0.1<0>",
        {"net_devices": [device(0, "mlx5_0", "RoCE")], "relaxed_ordering": True, "oob_interface": ETH},
    ),
    "SHARP plugin": (
        "NET/IB : Using [0]mlx5_0:1/IB/SHARP ; OOB eth0:10.0.0.1<0>",
        {"net_devices": [device(0, "mlx5_0", "IB", sharp=True)], "oob_interface": ETH},
    ),
    "no device in the list": ("NET/IB : Using [RO]; OOB eth0:10.0.0.1<0>", {"net_devices": [], "relaxed_ordering": True}),
    "plugin": ("NET/Plugin: Loaded net plugin AWS Libfabric (v8)", {"net_plugin": "AWS Libfabric"}),
    "ring order": ("Channel 00/04 :    0   1   2   3", {"nranks": 4}),
}  # fmt: skip


@pytest.mark.parametrize(("text", "fields"), FIELDS.values(), ids=FIELDS)
def test_fields(text: str, fields: dict[str, Any]) -> None:
    assert read(text, "INFO").fields == fields


NETWORKS: dict[str, tuple[int, str] | None] = {
    "Using network IB": (CHOSEN, "IB"),
    "Using network AWS Libfabric": (CHOSEN, "AWS Libfabric"),
    "Using internal Network Socket": (CHOSEN, "Socket"),
    "Assigned NET plugin IB to comm": (CHOSEN, "IB"),
    "Initialized NET plugin Socket": (STARTED, "Socket"),
    "NET/Socket : Using [0]eth0:10.0.0.1<0>": (LISTED, "Socket"),
    "NET/Socket : 2 interfaces found": (LISTED, "Socket"),
    "NET/IB : Using [0]mlx5_0:1/RoCE ; OOB eth0:10.0.0.1<0>": (STARTED, "IB"),
    "NET/IB : Using [RO]; OOB eth0:10.0.0.1<0>": None,
    "NET/IB: [0] mlx5_0:1/IB": (STARTED, "IB"),
    "NET/IB: [0] mlx5_0:1 is down": None,
    "CUDA Dev 0[0], Socket NIC distance :  PHB": (CARRIED, "Socket"),
    "CUDA Dev 0, IB Ports : mlx5_0/1(PHB) ": (CARRIED, "IB"),
    "CUDA Dev 0, IP Interfaces : em1(SOC) ": (CARRIED, "Socket"),
    "NET/OFI Selected provider is efa, fabric is efa (found 4 nics)": (STARTED, "AWS Libfabric"),
    "NET/OFI Couldn't find any optimal provider": None,
}


@pytest.mark.parametrize(("text", "net"), NETWORKS.items(), ids=list(NETWORKS))
def test_networks(text: str, net: tuple[int, str] | None) -> None:
    assert read(text, "INFO").net == net


@pytest.mark.parametrize("end", ["", " "])
def test_a_device_of_the_list_with_a_line_each_of_2_3(end: str) -> None:
    told = read("NET/IB: [1] mlx5_3:2/RoCE" + end, "INFO")
    assert told.lists == {"net_devices": [device(1, "mlx5_3", "RoCE") | {"port": 2}]}
    assert told.versions == "<2.4"


GDR: dict[str, dict[str, Any] | None] = {
    "NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0' (no module)": {
        "hca": "mlx5_0", "enabled": False, "reason": "no module",
    },
    "NET/IB : GPU Direct RDMA Enabled for HCA 3 'mlx5_3'": {"hca": "mlx5_3", "enabled": True},
    "NET/Socket : GPU Direct RDMA Disabled for HCA 0 'eth0'": None,
    "NET/IB : GPU Direct RDMA Disabled for GPU 0 / HCA mlx5_0 (distance 3 >= 2)": {
        "gpu": "0", "hca": "mlx5_0", "enabled": False, "distance": 3, "limit": 1,
    },
    "NET/IB : GPU Direct RDMA Enabled for GPU 0[0] / HCA 0 (distance 1 < 2), read 0": {
        "gpu": "0[0]", "hca": "0", "enabled": True, "distance": 1, "limit": 1,
    },
    "NET/IB : GPU Direct RDMA Disabled for GPU 8a000 / HCA 0 (distance 2 >= 2)": {
        "gpu": "8a000", "hca": "0", "enabled": False, "distance": 2, "limit": 1,
    },
    "NET/IB : GPU Direct RDMA Disabled for GPU 0[0] / HCA 0 'mlx5_0' (no module or not supported by GPU)": {
        "gpu": "0[0]", "hca": "mlx5_0", "enabled": False, "reason": "no module or not supported by GPU",
    },
    "GPU Direct RDMA Disabled for GPU 1b000 / HCA 1 (distance 5 > 4)": {
        "gpu": "1b000", "hca": "1", "enabled": False, "distance": 5, "limit": 4,
    },
    "GPU Direct RDMA Enabled for GPU 0 / HCA 0 (distance 4 <= 5), read 1 mode Default": {
        "gpu": "0", "hca": "0", "enabled": True, "distance": 4, "limit": 5,
    },
    "GPU Direct RDMA Enabled for GPU/0-1b000 (rank 0) - NET/0-0 (distance 4 <= 5, read 1, mode Default)": {
        "gpu": "GPU/0-1b000", "hca": "NET/0-0", "enabled": True, "distance": 4, "limit": 5,
    },
}  # fmt: skip


@pytest.mark.parametrize(("text", "verdict"), GDR.items(), ids=list(GDR))
def test_gdr_verdicts(text: str, verdict: dict[str, Any] | None) -> None:
    assert read(text, "INFO").lists.get("gdr", []) == ([verdict] if verdict else [])


GIDS = {
    "2.3": "NET/IB: Dev 0 Port 1 qpn 4660 mtu 5 GID 3 (0/4301A8C0FFFF0000)",
    "2.19": "NET/IB: Dev 0 Port 1 qpn 9 mtu 5 query_ece={supported=1, vendor_id=0x15b3, options=0x1, comp_mask=0x0} GID 3 "
    "(0/4301A8C0FFFF0000)",
    "2.27": "NET/IB: NCCL Dev 0 IbDev 0 Port 1 qpn 9 mtu 5 GID 3 (0/4301A8C0FFFF0000) fifoRkey=0x1 fifoLkey=0x2",
    "2.29.7": "NET/IB: connect: Send 0 IbDev 0 Port 1 qp_num 9 mtu 5 GID 3 (0/4301A8C0FFFF0000) ctsFifoRkey=0x1 "
    "ctsFifoLkey=0x2",
}


@pytest.mark.parametrize("text", GIDS.values(), ids=GIDS)
def test_gids(text: str) -> None:
    expected = {"device": 0, "port": 1, "index": 3, "local_gid": "::ffff:192.168.1.67"}
    assert read(text, "INFO").lists == {"gids_used": [expected]}


def test_gids_of_errors() -> None:
    text = (
        "Call to ibv_modify_qp failed with 110 Connection timed out, on dev mlx5_0:1, curr state INIT, next state RTR, "
        "local GID index 3, local GID ::ffff:10.0.0.1, remote GID ::ffff:10.9.0.2"
    )
    use = {"hca": "mlx5_0", "port": 1, "index": 3, "local_gid": "::ffff:10.0.0.1", "remote_gid": "::ffff:10.9.0.2"}
    assert read(text, "WARN").lists == {"gids_used": [use]}


SETTINGS: dict[str, tuple[str, str]] = {
    "NCCL_IB_TIMEOUT set by environment to 22.": ("NCCL_IB_TIMEOUT", "22"),
    "NCCL_IB_GID_INDEX set by environment to 18446744073709551615.": ("NCCL_IB_GID_INDEX", "-1"),
    "NCCL_SOCKET_IFNAME set by environment to =eth0,eth1": ("NCCL_SOCKET_IFNAME", "=eth0,eth1"),
    "NCCL_ALGO set by environment to Ring ; NCCL INFO NCCL_PROTO set by environment to LL": ("NCCL_ALGO", "Ring"),
    "NCCL_NET_GDR_LEVEL set by environment to SYS": ("NCCL_NET_GDR_LEVEL", "SYS"),
    "NCCL_NET_GDR_LEVEL set from environment to SYS": ("NCCL_NET_GDR_LEVEL", "SYS"),
    "NCCL_IB_HCA set to =mlx5_0,mlx5_1": ("NCCL_IB_HCA", "=mlx5_0,mlx5_1"),
    "NCCL_TOPO_FILE set by environment to /etc/topo.v1.xml": ("NCCL_TOPO_FILE", "/etc/topo.v1.xml"),
    "Plugin name set by env to libnccl-net-x.so": ("NCCL_NET_PLUGIN", "libnccl-net-x.so"),
}


@pytest.mark.parametrize(("text", "setting"), SETTINGS.items(), ids=list(SETTINGS))
def test_settings(text: str, setting: tuple[str, str]) -> None:
    assert read(text, "INFO").setting == setting


BUS = "0000:1b:00.0"
INITS: dict[str, Init] = {
    "rank 5 nranks 24": Init(5, 24, "", state="started"),
    "comm 0x55d0 rank 1 nranks 16": Init(1, 16, "0x55d0", state="started"),
    "comm 0x55d0 rank 1 nranks 16 - COMPLETE": Init(1, 16, "0x55d0", state="ready"),
    "comm 0x55d0 rank 1 nranks 16 cudaDev 0 nvmlDev 0 - Init COMPLETE": Init(1, 16, "0x55d0", None, 0, state="ready"),
    "comm 0x55d0 rank 1 nranks 16 cudaDev 0 busId 1b000 - Init COMPLETE": Init(1, 16, "0x55d0", None, 0, BUS, state="ready"),
    "comm 0x55d0 rank 1 nranks 16 cudaDev 0 nvmlDev 0 busId 1b000 commId 0x7c31 - Init START": Init(
        1, 16, "0x55d0", "0x7c31", 0, BUS, state="started"
    ),
    "ncclCommInitRank comm 0x55d0 rank 1 nranks 16 cudaDev 0 nvmlDev 0 busId 1b000 commId 0x7c31 - Init COMPLETE": Init(
        1, 16, "0x55d0", "0x7c31", 0, BUS, state="ready"
    ),
    "[Rank 1] ncclCommInitRankConfig comm 0x55d0 rank 1 nranks 16 cudaDev 0 nvmlDev 0 busId 1b000 commId 0x7c31 - Init START":
        Init(1, 16, "0x55d0", "0x7c31", 0, BUS, state="started"),
    "ncclCommSplit comm 0x66 rank 0 nranks 8 cudaDev 0 nvmlDev 0 busId 1b000 parent 0x55d0 splitCount 1 color 0 key 0- Init START":
        Init(0, 8, "0x66", None, 0, BUS, "0x55d0", state="started", branch="1.0"),
    "comm 0x55d0 rank 1 nRanks 16 nNodes 2 localRanks 8 localRank 1 MNNVL 0": Init(1, 16, "0x55d0", nhosts=2),
    "comm 0x55d0 rank 1 nranks 16 cudaDev 0 busId 1b000 - Destroy COMPLETE": Init(1, 16, "0x55d0", None, 0, BUS),
    "comm 0x55d0 rank 1 nranks 16 cudaDev 0 busId 1b000 - Abort COMPLETE": Init(
        1, 16, "0x55d0", None, 0, BUS, aborted=True
    ),
    "ncclCommSplit comm 0x66 rank 0 nranks 8 cudaDev 0 nvmlDev 0 busId 1b000 parent 0x55d0 color 4 key 0- Init START":
        Init(0, 8, "0x66", None, 0, BUS, "0x55d0", state="started", branch="?.4"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "init"), INITS.items(), ids=list(INITS))
def test_life_of_communicators(text: str, init: Init) -> None:
    assert read(text, "INFO").init == init


RETURNS = {
    "init.cc:1234 -> 3": ("init.cc", 1234, 3, True),
    "init.cc:1234 -> 3 (some words)": ("init.cc", 1234, 3, True),
    "group.cc:64 -> 2 [Async thread]": ("group.cc", 64, 2, True),
    "proxy.cc:684 -> 6 [Progress Thread]": ("proxy.cc", 684, 6, True),
    "init.cc:99 (ncclCommInitRankFunc) -> 3": ("init.cc", 99, 3, True),
    "include/net.h:24 -> 2": ("include/net.h", 24, 2, False),
    "misc/socket.cc:58 -> 3": ("misc/socket.cc", 58, 3, False),
    "init.cc:1 -> 7": ("init.cc", 1, 7, False),
}


@pytest.mark.parametrize(("text", "expected"), RETURNS.items(), ids=list(RETURNS))
def test_error_returns(text: str, expected: tuple[str, int, int, bool]) -> None:
    reading = read(text, "INFO")
    assert reading.told is not None
    fields = reading.told.fields
    assert (fields["source_file"], fields["source_line"], fields["code"], reading.fails) == expected
    assert (reading.told.event, reading.told.kind) == ("error-return", "echo")


LINKS: dict[str, Link | None] = {
    "0 -> 8 via NET/Socket/1": Link(0, 8, "NET/Socket", "Socket", 1),
    "0 -> 8 [send] via NET/IB/0/GDRDMA": Link(0, 8, "NET/IB/GDRDMA", "IB", 0, "send/GDRDMA"),
    "15[41000] -> 0[1b000] [receive] via NET/IB/0": Link(
        0, 15, "NET/IB", "IB", 0, "receive", ">=2.5,<2.18.3", receives=True
    ),
    "0[1b000] -> 8[3e000] [send] via NET/IB/0(1)/GDRDMA/Shared": Link(
        0, 8, "NET/IB/GDRDMA", "IB", 0, "send/GDRDMA", ">=2.5,<2.18.3"
    ),
    "0[0] -> 8[0] [send] via NET/AWS Libfabric/2/GDRDMA": Link(
        0, 8, "NET/AWS Libfabric/GDRDMA", "AWS Libfabric", 2, "send/GDRDMA"
    ),
    "0[0] -> 8[0] [receive] via NET/IB/3/GDRDMA(PCI)/Shared": Link(
        8, 0, "NET/IB/GDRDMA", "IB", 3, "receive/GDRDMA", ">=2.26", receives=True
    ),
    "0[0] -> 1[1] via P2P/IPC/read": Link(0, 1, "P2P/IPC"),
    "0[0] -> 1[1] via P2P/CUMEM/CE": Link(0, 1, "P2P/CUMEM", versions=">=2.18"),
    "0[0] -> 1[1] via P2P/direct pointer/read": Link(0, 1, "P2P/direct pointer"),
    "0[0] -> 1[1] via P2P/indirect/2[2]": Link(0, 1, "P2P/indirect"),
    "0[0] -> 1[1] via SHM/direct/direct": Link(0, 1, "SHM", versions=">=2.13"),
    "0[1b000] -> 1[3e000] via direct shared memory": Link(0, 1, "SHM", versions="<2.13"),
    "0 [send] via COLLNET/SHARP/0/GDRDMA": Link(0, None, "COLLNET/SHARP/GDRDMA", None, 0),
    "0 1 2 3": None,
}


@pytest.mark.parametrize(("text", "link"), LINKS.items(), ids=list(LINKS))
def test_links(text: str, link: Link | None) -> None:
    assert parse_link(text) == link


@pytest.mark.parametrize(
    "text", ["", " ", "comm 0x", "NET/IB : Using", "Bootstrap : Using", "-> 3", "x" * 70000, "\x00 -> \x00"]
)
@pytest.mark.parametrize("level", ["INFO", "WARN", "ATTN", "ABORT"])
def test_cut_messages_are_read_without_an_error(text: str, level: str) -> None:
    read(text, level)


def test_a_warning_that_nothing_fits_is_an_event() -> None:
    told = read("The frobnicator is out of cheese", "WARN").told
    assert told is not None
    assert told.event == "unknown-warn"


@pytest.mark.parametrize(
    ("text", "file", "library"),
    [
        ("RCCL version : 2.27.7-HEAD:0d2c4fd", None, "RCCL"),
        ('Missing "iommu=pt" from kernel command line which can lead to system instablity or hang!', None, "RCCL"),
        ("anything", "/opt/rccl/build/hipify/src/init.cc", "RCCL"),
        ("NCCL version 2.22.3+cuda12.5", None, "NCCL"),
    ],
)
def test_library(text: str, file: str | None, library: str) -> None:
    level = "WARN" if file or "Missing" in text else "INFO"
    assert read(text, level, file).library == library


def test_a_message_cut_off_does_not_tell_the_release() -> None:
    """``Connected all rings`` alone is what releases before 2.24 print; cut off, a later one begins so as well."""
    whole, cut = read("Connected all rings", "INFO"), read("Connected all rings, use", "INFO")
    assert (whole.versions, cut.versions) == (">=2.8,<2.24", "")
