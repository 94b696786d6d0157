"""Derived facts of interfaces and RDMA ports."""

from __future__ import annotations

from typing import Any

import pytest

from ncdiag.facts.model import Address, Gid, Hca, Host, Interface, Job, Port
from ncdiag.facts.view import View

VIEW = View(Job())


def interface(name: str, *ips: str, **fields: Any) -> Interface:  # noqa: ANN401
    addresses = tuple(Address(ip) for ip in ips) if ips else fields.pop("addresses", None)
    return Interface(host="h", name=name, addresses=addresses, **fields)


@pytest.mark.parametrize(
    ("name", "kind", "virtual"),
    [
        ("lo", "loopback", False),
        ("eth0", "physical", False),
        ("enp94s0f0np0", "physical", False),
        ("ens5", "physical", False),
        ("eno1", "physical", False),
        ("enP2p1s0f0np0", "physical", False),
        ("p4p1", "physical", False),
        ("ib0", "ipoib", False),
        ("ibp24s0", "ipoib", False),
        ("bond0", "bond", False),
        ("bond0.120", "vlan", False),
        ("team1", "bond", False),
        ("veth3a91c2d", "veth", True),
        ("cali01ab23", "veth", True),
        ("lxc0a1b2c3d4e5f", "veth", True),
        ("docker0", "bridge", True),
        ("docker_gwbridge", "bridge", True),
        ("br-001903b485d3", "bridge", True),
        ("virbr0", "bridge", True),
        ("cni0", "bridge", True),
        ("br0", "bridge", None),
        ("br-ex", "bridge", None),
        ("vmbr0", "bridge", None),
        ("flannel.1", "tunnel", True),
        ("tunl0", "tunnel", True),
        ("vxlan.calico", "tunnel", True),
        ("wg0", "tunnel", True),
        ("tailscale0", "tunnel", True),
        ("cilium_host", "virtual", True),
        ("cilium_vxlan", "tunnel", True),
        ("kube-ipvs0", "virtual", True),
        ("wlp3s0", "wireless", False),
        ("fabric", None, None),
        ("net1", None, None),
        ("local0", None, None),
    ],
)
def test_names(name: str, kind: str | None, virtual: bool | None) -> None:
    assert VIEW.get(interface(name), "likely_kind") == kind
    assert VIEW.get(interface(name), "is_virtual") is virtual


def test_what_a_tool_told_wins_over_the_name() -> None:
    pod = interface("eth0", kind="veth")
    assert VIEW.get(pod, "likely_kind") == "veth"
    assert VIEW.get(pod, "is_virtual") is True
    assert VIEW.get(interface("docker0", kind="physical"), "is_virtual") is False


def test_a_link_to_another_namespace_is_no_nic_of_that_name() -> None:
    assert VIEW.get(interface("eth0", parent="if12"), "likely_kind") is None
    assert VIEW.get(interface("eth0", parent="bond0"), "likely_kind") == "physical"
    assert VIEW.get(interface("veth1", parent="if12"), "likely_kind") == "veth"


@pytest.mark.parametrize(
    ("ips", "ip", "link_local"),
    [
        (("10.0.0.5", "fe80::1"), "10.0.0.5", False),
        (("fe80::1", "10.0.0.5"), "10.0.0.5", False),
        (("fe80::1", "fd00::2"), "fe80::1", True),
        (("169.254.3.4",), "169.254.3.4", True),
        ((), None, None),
    ],
)
def test_the_address_that_counts(ips: tuple[str, ...], ip: str | None, link_local: bool | None) -> None:
    subject = interface("eth0", *ips)
    assert (VIEW.get(subject, "ip"), VIEW.get(subject, "is_link_local")) == (ip, link_local)


LO, ETH, NONE, VETH = (
    interface("lo", "127.0.0.1"),
    interface("eth0", "10.0.0.5"),
    interface("eth1", addresses=()),
    interface("veth1", "fe80::1"),
)


@pytest.mark.parametrize(
    ("interfaces", "whole", "expected"),
    [
        ((LO, ETH), True, True),
        ((LO, ETH, NONE), True, True),
        ((LO, ETH, VETH), True, False),
        ((LO, ETH, VETH), False, False),
        ((LO, ETH), False, None),
        ((LO,), True, False),
        ((LO, ETH, interface("eth2")), True, None),
        ((), False, None),
    ],
)
def test_has_one_interface(interfaces: tuple[Interface, ...], whole: bool, expected: bool | None) -> None:
    host = Host(name="h", interfaces=interfaces, complete=frozenset({"interfaces"} if whole else ()))
    assert VIEW.get(host, "has_one_interface") is expected


def port(*rows: tuple[int, str | None, str | None], **fields: Any) -> Port:  # noqa: ANN401
    gids = tuple(Gid(host="h", hca="mlx5_0", port=1, index=i, type=kind, ip=ip) for i, kind, ip in rows)  # type: ignore[arg-type]
    return Port(host="h", hca="mlx5_0", number=1, gids=gids, **fields)


USUAL = (
    (0, "RoCE v1", None),
    (1, "RoCE v2", None),
    (2, "RoCE v1", "10.0.0.5"),
    (3, "RoCE v2", "10.0.0.5"),
    (5, "RoCE v2", "10.1.0.5"),
)


@pytest.mark.parametrize(
    ("subject", "index", "has"),
    [
        (port(*USUAL, gids_complete=True), 3, True),
        (port(*USUAL), 3, True),
        (port(*USUAL[3:]), None, True),
        (port(*USUAL[3:], gids_complete=True), 3, True),
        (port(*USUAL[:3], gids_complete=True), None, False),
        (port(*USUAL[:3]), None, None),
        (port((0, None, "10.0.0.5"), gids_complete=True), None, None),
    ],
)
def test_rocev2_ipv4(subject: Port, index: int | None, has: bool | None) -> None:
    assert VIEW.get(subject, "rocev2_ipv4_index") == index
    assert VIEW.get(subject, "has_rocev2_ipv4") is has


def test_roce_or_infiniband() -> None:
    assert VIEW.get(port(link_layer="Ethernet"), "is_roce") is True
    assert VIEW.get(port(*USUAL, link_layer="InfiniBand"), "is_roce") is False
    assert VIEW.get(port(*USUAL), "is_roce") is True
    assert VIEW.get(port((0, "IB", None)), "is_roce") is False
    assert VIEW.get(port(), "is_roce") is None


def test_active_ports_of_a_host() -> None:
    fast, slow, down, untold = (
        port(state="active", rate_gbps=400.0),
        port(state="active", rate_gbps=25.0),
        port(state="down", rate_gbps=800.0),
        port(),
    )
    host = Host(
        name="h",
        hcas=(Hca(host="h", name="mlx5_0", ports=(slow, down, untold)), Hca(host="h", name="mlx5_1", ports=(fast,))),
    )
    assert VIEW.get(host, "active_ports") == (slow, fast)
    assert VIEW.get(host, "fastest_rate_gbps") == 400.0
    assert VIEW.get(Host(name="i"), "fastest_rate_gbps") is None


@pytest.mark.parametrize(
    ("name", "vendor", "efa", "soft"),
    [
        ("rdmap85s0", "0x1d0f", True, False),
        ("rdmap85s0", None, None, None),
        ("rxe0", "0xffffff", False, True),
        ("mlx5_0", "junk", None, None),
    ],
)
def test_devices(name: str, vendor: str | None, efa: bool | None, soft: bool | None) -> None:
    hca = Hca(host="h", name=name, vendor_id=vendor)
    assert VIEW.get(hca, "is_efa") is efa
    assert VIEW.get(hca, "is_soft_rdma") is soft
