"""Interfaces, addresses and routes of recorded trees, of odd ones and of this machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from ncdiag.facts.model import Host, Interface
from ncdiag.facts.observe import Observation
from ncdiag.machine import sockets, sysfs_net
from ncdiag.machine.tree import Tree

Write = Callable[[Path, Mapping[str, str | bytes]], Tree]
HostOf = Callable[[list[Observation]], Host]
HERE = Tree(Path("/"), "here")


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
def test_kinds_are_told_from_files(
    tmp_path: Path, files: dict[str, str], kind: str, write: Write, host_of: HostOf
) -> None:
    tree = write(tmp_path, {f"sys/class/net/x/{name}": text for name, text in {"type": "1", **files}.items()})
    assert sysfs_net.kind_of_interface(tree, "x")[1] == kind
    [found] = host_of(list(sysfs_net.interfaces(tree))).interfaces
    assert found.kind == kind


def test_bond_members_masters_and_vlans_by_proc(tmp_path: Path, write: Write, host_of: HostOf) -> None:
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


def test_the_lowest_metric_of_two_default_routes_and_bad_lines(tmp_path: Path, write: Write, host_of: HostOf) -> None:
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


def test_an_ipv4_address_that_two_interfaces_could_have_is_left_out(tmp_path: Path, write: Write) -> None:
    row = "{}\t0001A8C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0"
    table = "\n".join(["Iface", row.format("eth0"), row.format("eth1")])
    trie = "Local:\n     |-- 192.168.1.9\n        /32 host LOCAL\n     |-- 999.1.1.1\n        /32 host LOCAL\n"
    tree = write(tmp_path, {"proc/net/route": table, "proc/net/fib_trie": trie, "proc/net/if_inet6": "zz 1 2\nx"})
    assert sockets.recorded_addresses(tree) == {}
    assert sockets.recorded_addresses(write(tmp_path / "none", {"x": ""})) is None


def test_ipv6_addresses_of_a_wider_scope_come_first(tmp_path: Path, write: Write) -> None:
    table = (
        "fe80000000000000020cfffffe000001 02 40 20 80 eth0\n"
        "00000000000000000000000000000001 01 80 10 80 lo\n"
        "20010db8000000000000000000000007 02 40 00 00 eth0\n"
        "fec00000000000000000000000000001 02 40 40 00 eth0\n"
    )
    tree = write(tmp_path, {"proc/net/route": "", "proc/net/fib_trie": "", "proc/net/if_inet6": table})
    found = sockets.recorded_addresses(tree)
    assert found is not None
    assert [item["ip"] for item in found["eth0"]] == ["2001:db8::7", "fec0::1", "fe80::20c:ffff:fe00:1"]
    assert found["lo"] == [{"ip": "::1", "prefix_len": 128}]


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
