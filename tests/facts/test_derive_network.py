"""Derived facts of interfaces and RDMA ports."""

from __future__ import annotations

from typing import Any

import pytest

from ncdiag.facts.model import Address, Event, Gid, Hca, Host, Interface, Job, Port, Rank, Setting
from ncdiag.facts.scalars import VersionRange
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.interfaces import ip as found_ip
from ncdiag.facts.vocabulary.interfaces import is_link_local, is_virtual, likely_kind
from ncdiag.facts.vocabulary.rdma import active_ports, is_roce, is_soft_rdma, rocev2_ipv4_index
from ncdiag.formats.rdma import mapped_ip
from ncdiag.knowledge.cloud.efa import is_efa
from ncdiag.knowledge.roce.addresses import gid_kinds_cross
from ncdiag.knowledge.socket.interfaces import has_one_interface

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
    assert likely_kind(interface(name), VIEW) == kind
    assert is_virtual(interface(name), VIEW) is virtual


def test_what_a_tool_told_wins_over_the_name() -> None:
    pod = interface("eth0", kind="veth")
    assert likely_kind(pod, VIEW) == "veth"
    assert is_virtual(pod, VIEW) is False  # the end that a pod was given: its way out
    assert is_virtual(interface("veth12ab", kind="veth"), VIEW) is True
    assert is_virtual(interface("docker0", kind="physical"), VIEW) is False


def test_a_link_to_another_namespace_is_no_nic_of_that_name() -> None:
    assert likely_kind(interface("eth0", parent="if12"), VIEW) is None
    assert likely_kind(interface("eth0", parent="bond0"), VIEW) == "physical"
    assert likely_kind(interface("veth1", parent="if12"), VIEW) == "veth"


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
    assert (found_ip(subject, VIEW), is_link_local(subject, VIEW)) == (ip, link_local)


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
    assert has_one_interface(host, VIEW) is expected


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
    ("subject", "index"),
    [
        (port(*USUAL, gids_complete=True), 3),
        (port(*USUAL), 3),
        (port(*USUAL[3:]), None),
        (port(*USUAL[3:], gids_complete=True), 3),
        (port(*USUAL[:3], gids_complete=True), None),
        (port(*USUAL[:3]), None),
        (port((0, None, "10.0.0.5"), gids_complete=True), None),
    ],
)
def test_rocev2_ipv4(subject: Port, index: int | None) -> None:
    assert rocev2_ipv4_index(subject, VIEW) == index


def test_roce_or_infiniband() -> None:
    assert is_roce(port(link_layer="Ethernet"), VIEW) is True
    assert is_roce(port(*USUAL, link_layer="InfiniBand"), VIEW) is False
    assert is_roce(port(*USUAL), VIEW) is True
    assert is_roce(port((0, "IB", None)), VIEW) is False
    assert is_roce(port(), VIEW) is None


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
    assert active_ports(host, VIEW) == (slow, fast)


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
    assert is_efa(hca, VIEW) is efa
    assert is_soft_rdma(hca, VIEW) is soft


@pytest.mark.parametrize(("part", "efa"), [("61347", True), ("4129", None), ("0xefa3", None), (None, None)])
def test_an_efa_is_known_by_its_pci_device_where_the_vendor_is_not_shown(part: str | None, efa: bool | None) -> None:
    assert is_efa(Hca(host="h", name="rdmap85s0", part_id=part), VIEW) is efa
    assert is_efa(Hca(host="h", name="rdmap85s0", part_id=part, vendor_id="0x02c9"), VIEW) is False


LINK, V4, ROUTED = "fe80::e42:a1ff:fe11:2233", "0000:0000:0000:0000:0000:ffff:0a46:0233", "2001:db8::51"
TIMED_OUT = Event(event="ucx-endpoint-timeout", kind="symptom", origin="ucx", text="timeout")


def with_tables(*tables: tuple[str, ...], release: str | None = None, index: str | None = None, **job: Any) -> View:  # noqa: ANN401
    hosts, ranks = [], []
    for number, table in enumerate(tables):
        name = f"n{number}"
        gids = tuple(
            Gid(host=name, hca="mlx5_0", port=1, index=i, address=address, ip=mapped_ip(address))
            for i, address in enumerate(table)
        )
        port = Port(host=name, hca="mlx5_0", number=1, gids=gids)
        setting = Setting(name="NCCL_IB_GID_INDEX", text=index, is_set=True)
        known = {} if index is None else {setting.name: setting}
        hosts.append(Host(name=name, hcas=(Hca(host=name, name="mlx5_0", ports=(port,)),), settings=known))
        if release:
            ranks.append(Rank(host=name, pid=number, nccl_version=VersionRange.exact(release), settings=known))
    return View(Job(hosts=tuple(hosts), ranks=tuple(ranks), **{"events": (TIMED_OUT,), **job}))


@pytest.mark.parametrize(
    ("view", "crossed"),
    [
        (with_tables((LINK, V4), (LINK, LINK, V4, V4)), True),
        (with_tables((V4,), (LINK, V4)), True),
        (with_tables((LINK, V4), (LINK, V4, V4)), False),
        (with_tables((LINK, V4), (LINK, ROUTED, V4)), False),  # entries of IPv6 addresses may be routed alike
        (with_tables((LINK, V4), (LINK, LINK, V4), events=()), False),
        (with_tables((LINK, V4)), False),
        (with_tables((LINK, V4), (LINK, LINK, V4), release="2.18.3"), False),  # it uses entry 0
        (with_tables((V4,), (LINK, V4), release="2.18.3"), True),
        (with_tables((V4,), (LINK, V4), release="2.27.5"), False),
        (with_tables((V4, V4), (LINK, V4), release="2.27.5", index="1"), False),
        (with_tables((V4, V4), (V4, LINK), release="2.27.5", index="1"), True),
    ],
)
def test_one_index_is_another_kind_of_gid_on_another_host(view: View, crossed: bool) -> None:
    assert gid_kinds_cross(view.job, view) is crossed
