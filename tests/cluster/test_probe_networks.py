"""`ncdiag probe` over real networks that translate, duplicate or refuse: each is named for what it is."""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hosts import Hosts

Sweep = Callable[..., subprocess.CompletedProcess[bytes]]
Need = Callable[[str, object, str], None]
pytestmark = [pytest.mark.root, pytest.mark.xdist_group("fleet")]
THREE = "n[1-3]"


def titles(done: subprocess.CompletedProcess[bytes]) -> dict[str, str]:
    """The findings about the probe, by name."""
    assert done.stdout, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)["findings"]
    return {one["name"]: one["title"] for one in found if one["name"].startswith(("probe-", "host-unanswered"))}


@contextlib.contextmanager
def ruled(fleet: Hosts, host: str, *rules: str) -> Iterator[None]:
    """Rules of nft on a host, in a table of their own, as long as the context lasts."""
    try:
        for rule in ("add table ip probe", *rules):
            done = fleet.run(host, "nft", rule)
            assert done.returncode == 0, done.stderr
        yield
    finally:
        fleet.run(host, "nft", "delete table ip probe")


@contextlib.contextmanager
def router(fleet: Hosts, one: str, other: str) -> Iterator[None]:
    """Between two hosts a second way, from the network of one to that of the other, through the switch."""
    with contextlib.ExitStack() as stack:
        for number, name in enumerate((one, other), 1):
            wire = [
                f"link add name r{number} type veth peer name eth1 netns {fleet.space(name)}", f"link set r{number} up",
                f"addr add 10.80.{number}.254/24 dev r{number}",
            ]  # fmt: skip
            stack.enter_context(fleet.changed("switch", to=wire, back=[f"link del r{number}"]))
            own = [f"addr add 10.80.{number}.1/24 dev eth1", "link set eth1 up",
                   f"route add 10.80.{3 - number}.0/24 via 10.80.{number}.254"]  # fmt: skip
            stack.enter_context(fleet.changed(name, to=own, back=[]))
        fleet.run("switch", "sysctl", "-qw", "net.ipv4.ip_forward=1")
        yield


@pytest.mark.long
def test_a_nat_between_two_hosts(fleet: Hosts, sweep: Sweep, need: Need) -> None:
    need("nft", shutil.which("nft"), "nft is not installed (nftables)")
    chain = "add chain ip probe out { type nat hook postrouting priority 100; }"
    with router(fleet, "n1", "n2"), ruled(fleet, "switch", chain, "add rule ip probe out oifname r2 masquerade"):
        found = titles(sweep("probe", "--nodes", "n[1-2]", "--format", "json"))
    assert set(found) == {"probe-way-differs"}
    title = found["probe-way-differs"]
    assert title.startswith("Addresses are translated from n1 to n2")
    assert "10.80.1.1 of n1 is seen as 10.80.2.254" in title


def mistake(fleet: Hosts, asks: str, wanted: str, taken: str) -> None:
    """On the second network a host takes another for the one that it wants, as if that had answered ARP first.

    The entry is fixed: with two who answer, chance decides.
    """
    mac = fleet.run(taken, "cat", "/sys/class/net/eth1/address").stdout.decode().strip()
    fleet.run(asks, "ip", "neigh", "replace", fleet.rail_address(wanted), "lladdr", mac, "dev", "eth1")


def test_another_host_has_the_same_address_or_passes_packets_on(fleet: Hosts, sweep: Sweep) -> None:
    """n3 has the address of n2 as well; what comes for n1 it forwards, as one with proxy_arp does."""
    own = f"addr add {fleet.rail_address('n2')}/32 dev eth1"
    with fleet.rail("n1", "n2", "n3", "n4"), fleet.changed("n3", to=[own], back=[]):
        mistake(fleet, "n1", "n2", "n3")
        mistake(fleet, "n4", "n1", "n3")
        fleet.run("n3", "sysctl", "-qw", "net.ipv4.ip_forward=1")
        try:
            done = sweep("probe", "--nodes", "n[1-4]", "--format", "json")
        finally:
            fleet.run("n3", "sysctl", "-qw", "net.ipv4.ip_forward=0")
    told = [one["title"] for one in json.loads(done.stdout)["findings"]]
    assert any("n3 answers at 10.78.0.2 of n2" in title for title in told)
    ways = [title for title in told if title.startswith("Packets take a way through another host from n4 to n1")]
    assert ways
    assert "n3 answers ARP for 10.78.0.1 of n1" in ways[0]


@pytest.mark.long
def test_a_firewall_closes_one_port(fleet: Hosts, sweep: Sweep, need: Need) -> None:
    need("nft", shutil.which("nft"), "nft is not installed (nftables)")
    chain = "add chain ip probe in { type filter hook input priority 0; }"
    ports = ["--port", "5000", "--port", "5001"]
    with (
        ruled(fleet, "n2", chain, "add rule ip probe in tcp dport 5000 drop"),
        ruled(fleet, "n3", chain, "add rule ip probe in tcp dport 5001 reject with tcp reset"),
    ):
        done = sweep("probe", "--nodes", THREE, *ports, "--format", "json")
    told = [one["title"] for one in json.loads(done.stdout)["findings"] if one["name"] == "probe-ports-closed"]
    assert sorted(told) == [
        "Some ports are closed to n2: port 5000 gives no answer",
        "Some ports are closed to n3: port 5001 is refused although a program listens there",
    ]


def test_the_master_cannot_be_reached(sweep: Sweep) -> None:
    found = titles(sweep("probe", "--nodes", "n[1-2]", "--master", "10.99.0.1:29500", "--format", "json"))
    assert found == {
        "probe-master-unusable": "The ranks cannot meet at 10.99.0.1:29500: network unreachable (for all hosts)"
    }


def test_interfaces_beyond_those_that_are_tried_are_counted(fleet: Hosts) -> None:
    lines = [f"link add name d{number} type veth peer name d{number + 20}" for number in range(20)]
    for number in range(40):
        lines += [f"addr add 10.9.{number}.1/24 dev d{number}", f"link set d{number} up"]
    ask = "from ncdiag.agent.probe.ways import interfaces; found, more = interfaces(); print(len(found), more)"
    with fleet.changed("n4", to=lines, back=[f"link del d{number}" for number in range(20)]):
        assert fleet.run("n4", sys.executable, "-c", ask).stdout.split() == [b"32", b"9"]
