"""RDMA ports, their merging and the network back end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from ncdiag.facts.model import Gid, Hca, Port
from ncdiag.facts.scalars import Version
from ncdiag.nccl.selection import devices, sockets
from ncdiag.nccl.selection.devices import Devices
from ncdiag.nccl.selection.network import IB, SOCKET, Found, Network, network

V = Version
V218, V230 = Version(2, 18, 3), Version(2, 30, 7)


def hca(name: str, *ports: dict[str, Any], **fields: Any) -> Hca:  # noqa: ANN401
    made = [
        Port(host="n1", hca=name, number=number, **{"state": "active", "link_layer": "InfiniBand", **given})
        for number, given in enumerate(ports or ({},), start=1)
    ]
    return Hca(host="n1", name=name, ports=tuple(made), **fields)


def chosen(*hcas: Hca, version: Any = V218, complete: bool = True, **settings: str | None) -> Devices:  # noqa: ANN401
    return devices.devices(hcas, named(settings), version, complete=complete)


def named(settings: Mapping[str, str | None]) -> dict[str, str | None]:
    return {f"NCCL_{name}": value for name, value in settings.items()}


def test_active_ports_of_a_known_link_layer_are_taken() -> None:
    found = chosen(
        hca("mlx5_0"), hca("mlx5_1", {"state": "down"}), hca("mlx5_2", {"state": "init"}, {}),
        hca("mlx5_3", {"link_layer": "Ethernet"}),
        hca("rdmap0s6", {"link_layer": None}, vendor_id="0x1d0f"),
    )  # fmt: skip
    assert found.known
    assert found.names == ("mlx5_0:1", "mlx5_2:2", "mlx5_3:1")
    texts = {reason.about: reason.text for reason in found.reasons}
    assert "state is down" in texts["mlx5_1:1"]
    assert "neither InfiniBand nor Ethernet" in texts["rdmap0s6:1"]


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        ("mlx5_1", "mlx5_1:1 mlx5_1:2 mlx5_10:1"),
        ("=mlx5_1", "mlx5_1:1 mlx5_1:2"),
        ("=mlx5_1:2", "mlx5_1:2"),
        ("mlx5_1:1", "mlx5_1:1 mlx5_10:1"),
        ("^mlx5_1", "mlx5_0:1"),
        ("^=mlx5_1", "mlx5_0:1 mlx5_10:1"),
        ("mlx5_0,mlx5_10", "mlx5_0:1 mlx5_10:1"),
        ("", "mlx5_0:1 mlx5_1:1 mlx5_1:2 mlx5_10:1"),
        ("mlx4", ""),
        ("mlx5_0,^mlx5_1", "mlx5_0:1"),
        ("=mlx5_0 ", ""),
        ("=mlx5_1:-1", "mlx5_1:1 mlx5_1:2"),
    ],
)
def test_the_list_of_the_user(wanted: str, names: str) -> None:
    found = chosen(hca("mlx5_0"), hca("mlx5_1", {}, {}), hca("mlx5_10"), IB_HCA=wanted)
    assert found.known
    assert " ".join(found.names) == names


def test_what_is_not_known_stays_open_unless_the_list_settles_it() -> None:
    unsure = hca("mlx5_1", {"state": None})
    found = chosen(hca("mlx5_0"), unsure)
    assert (found.known, found.names, found.possible, found.some) == (False, ("mlx5_0:1",), ("mlx5_1:1",), True)
    assert chosen(hca("mlx5_0"), unsure, IB_HCA="=mlx5_0").known
    assert chosen(unsure, complete=False).some is None
    assert not chosen(hca("mlx5_0"), complete=False).known
    assert not chosen(hca("mlx5_0"), IB_HCA=None).known
    bare = Hca(host="n1", name="mlx5_7")
    assert chosen(bare).possible == ("mlx5_7",)
    assert chosen(bare, IB_HCA="^mlx5_7").known


def test_the_link_layer_shows_in_the_gid_types() -> None:
    gid = Gid(host="n1", hca="bnxt_re0", port=1, index=0, type="RoCE v2")
    assert chosen(hca("bnxt_re0", {"link_layer": None, "gids": (gid,)})).known
    assert not chosen(hca("bnxt_re0", {"link_layer": None})).known


@pytest.mark.parametrize(("version", "count", "known"), [(V218, 16, True), (V218, 17, False), (V(2, 18, 5), 17, True),
                                                         (V230, 33, False)])  # fmt: skip
def test_no_more_ports_than_the_release_takes(version: Version, count: int, known: bool) -> None:
    assert chosen(*(hca(f"mlx5_{n}") for n in range(count)), version=version).known is known


def test_an_unknown_version_is_answered_where_all_agree() -> None:
    assert chosen(hca("mlx5_0"), version=None).names == ("mlx5_0:1",)
    old = chosen(hca("=mlx5_0"), hca("mlx5_0"), version=None, IB_HCA="=mlx5_0")  # no "=" before 2.5.6
    assert not old.known
    assert set(old.possible) == {"mlx5_0:1", "=mlx5_0:1"}


def test_since_2_29_7_the_pci_place_orders() -> None:
    two = hca("mlx5_0", bus_id="0000:9b:00.0"), hca("mlx5_1", bus_id="0000:1b:00.0")
    assert chosen(*two, version=V(2, 29, 3)).names == ("mlx5_0:1", "mlx5_1:1")
    new = chosen(*two, version=V230)
    assert (new.names, new.ordered) == (("mlx5_1:1", "mlx5_0:1"), True)
    assert not chosen(*two, version=V230, IB_DEVICE_PCI_ORDER="0").ordered


CARD = hca("mlx5_0", bus_id="0000:1b:00.0"), hca("mlx5_1", bus_id="0000:1b:00.1")
SINGLE = hca("mlx5_2", bus_id="0000:9b:00.0")
JOINED = (("mlx5_0:1", "mlx5_1:1"), ("mlx5_2:1",))
APART = (("mlx5_0:1",), ("mlx5_1:1",), ("mlx5_2:1",))


@pytest.mark.parametrize(
    ("version", "settings", "nics"),
    [
        (V218, {}, APART),
        (V(2, 20, 3), {}, JOINED),
        (V(2, 20, 3), {"IB_MERGE_NICS": "0"}, APART),
        (V(2, 22, 3), {}, APART),
        (V(2, 27, 7), {}, JOINED),
        (V(2, 27, 7), {"NET_MERGE_LEVEL": "LOC"}, APART),
        (V(2, 27, 7), {"NET_MERGE_LEVEL": "PHB"}, None),
        (V(2, 27, 7), {"NET_FORCE_MERGE": "mlx5_0,mlx5_2"}, None),
        (V(2, 23, 4), {"NET_FORCE_MERGE": "mlx5_0,mlx5_2"}, APART),
    ],
)
def test_ports_of_one_card_become_one_nic(version: Version, settings: dict[str, str], nics: Any) -> None:  # noqa: ANN401
    assert devices.devices((*CARD, SINGLE), named(settings), version, complete=True).nics == nics


def test_what_keeps_ports_apart() -> None:
    mixed = CARD[0], hca("mlx5_1", {"link_layer": "Ethernet"}, bus_id="0000:1b:00.1")
    assert chosen(*mixed, version=V(2, 27, 7)).nics == (("mlx5_0:1",), ("mlx5_1:1",))
    assert chosen(hca("mlx5_0"), hca("mlx5_1"), version=V(2, 27, 7)).nics is None
    virtual = hca("mlx5_0", bus_id="0000:1b:00.2"), hca("mlx5_1", bus_id="0000:1b:01.3")
    assert chosen(*virtual, version=V(2, 27, 7)).nics == (("mlx5_0:1", "mlx5_1:1"),)
    assert chosen(*virtual, version=V(2, 27, 7), IB_MERGE_VFS="0").nics == (("mlx5_0:1",), ("mlx5_1:1",))


def test_the_speed_that_nccl_counts_with() -> None:
    port = hca("mlx5_0", {"active_width": "4X", "active_speed": "100.0 Gbps"}).ports[0]
    assert devices.speed_mbps(port, V218) == 400000
    assert devices.speed_mbps(port, V(2, 16, 2)) is None
    assert devices.speed_mbps(hca("mlx5_0").ports[0], V218) is None


ETH = sockets.Choice(known=True, interfaces=(sockets.Chosen("eth0"),))
NONE = sockets.Choice(known=True, error=sockets.NO_OOB)
UNSEEN = sockets.Choice(known=False)
ONE = chosen(hca("mlx5_0"))
NO_PORT = chosen(hca("mlx5_0", {"state": "down"}))
OPEN = chosen(complete=False)


def net(found: Devices = ONE, eth: sockets.Choice = ETH, version: Any = V230, **settings: Any) -> Network:  # noqa: ANN401
    plugins, verbs = settings.pop("plugins", ()), settings.pop("verbs", None)
    named = {f"NCCL_{name}": value for name, value in settings.items()}
    return network(Found(devices=found, oob=eth, sockets=eth, plugins=plugins, verbs=verbs), named, version)


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({}, IB),
        ({"found": NO_PORT}, SOCKET),
        ({"found": OPEN}, None),
        ({"found": OPEN, "IB_DISABLE": "1"}, SOCKET),
        ({"found": OPEN, "verbs": False}, SOCKET),
        ({"found": OPEN, "NET": "Socket"}, SOCKET),
        ({"found": OPEN, "NET": "ib"}, None),
        ({"IB_DISABLE": "1"}, SOCKET),
        ({"IB_DISABLE": "true"}, IB),
        ({"IB_DISABLE": "0x1"}, SOCKET),
        ({"IB_DISABLE": ""}, IB),
        ({"IB_DISABLE": None}, None),
        ({"NET": "socket"}, SOCKET),
        ({"NET": "IB", "IB_DISABLE": "1"}, None),
        ({"NET": "AWS Libfabric"}, None),
        ({"NET": "Socket", "version": V(2, 9, 6)}, IB),
        ({"NET": "Socket", "version": None}, None),
        ({"NET": None}, None),
        ({"NET_PLUGIN": "aws-ofi"}, None),
        ({"NET_PLUGIN": "none"}, IB),
        ({"NET_PLUGIN": "none", "plugins": ("libnccl-net.so",)}, IB),
        ({"plugins": ("libnccl-net.so",)}, None),
        ({"plugins": ("libnccl-net.so",), "NET": "IB"}, IB),
        ({"eth": UNSEEN}, None),
    ],
)
def test_network(given: dict[str, Any], name: str | None) -> None:
    answer = net(**given)
    assert answer.name == name
    assert answer.reasons


def test_no_network_at_all() -> None:
    assert net(eth=NONE).error == "Failed to initialize any NET plugin"
    assert net(NET="IB", IB_DISABLE="1").error == "Failed to initialize any NET plugin"
    assert not net(found=OPEN, version=None).known


def test_no_set_up_socket_no_ib() -> None:
    found = Found(devices=ONE, oob=NONE, sockets=ETH)
    assert network(found, {}, V230).name == SOCKET
