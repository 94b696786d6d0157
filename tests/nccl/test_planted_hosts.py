"""Faults planted in real network namespaces, each beside a twin that is well: one host alone, and hosts of one job."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from namespaces import Namespace, Wire, ran
from tenth import tenth

pytestmark = pytest.mark.root


def up(name: str, *addresses: str, kind: str = "veth") -> Wire:
    return name, kind, "up", addresses


class Alone(NamedTuple):
    """A host, the rule that fires (None: it is well), the variables there, another rule that fires."""

    wires: tuple[Wire, ...]
    found: str | None
    env: dict[str, str] = {}  # noqa: RUF012
    besides: str | None = None


CARD, DOCKER = up("eth0", "10.9.0.1/24"), up("docker0", "172.17.0.1/16", kind="bridge")
INSIDE, ALONE = "socket-choice-inside", "socket-choice-alone"
HOSTS = {
    "loopback alone": Alone((), ALONE),
    "docker0, and the card has lost its link": Alone((("eth0", "veth", "dark", ("10.9.0.1/24",)), DOCKER), INSIDE),
    "docker0 by name": Alone((CARD, DOCKER), INSIDE, {"NCCL_SOCKET_IFNAME": "docker0"}),
    "docker0 beside a card": Alone((CARD, DOCKER), None),
    "docker0 alone": Alone((DOCKER,), ALONE),
    "a pod with two networks": Alone((up("eth0", "10.244.1.7/24"), up("net1", "192.168.9.7/24")), None),
    "one end of a pair before the card": Alone((up("veth12ab", "10.8.0.1/24"), CARD), INSIDE),
    "the card before one end of a pair": Alone((CARD, up("veth12ab", "10.8.0.1/24")), None),
    "a bridge of Docker before the card": Alone((up("br-8f1c2d3e4f5a", "172.18.0.1/16", kind="bridge"), CARD), INSIDE),
    "link-local alone": Alone((up("eth0", "fe80::7/64"),), ALONE),
    "169.254 alone": Alone((up("eth0", "169.254.3.7/16"),), ALONE),
    "IPv6 alone": Alone((up("eth0", "2001:db8::7/64"),), None),
    "a name that is not there": Alone((CARD,), "socket-ifname-no-match", {"NCCL_SOCKET_IFNAME": "eth5"}),
    "an exact name that is the beginning of one": Alone(
        (CARD,), "socket-ifname-no-match", {"NCCL_SOCKET_IFNAME": "=eth"}
    ),
    "a list of which one is there": Alone((CARD,), None, {"NCCL_SOCKET_IFNAME": "enp7s0,eth0"}),
    "loopback by name": Alone((CARD,), INSIDE, {"NCCL_SOCKET_IFNAME": "lo"}),
    "an exclusion that lets loopback in": Alone(
        (CARD,), INSIDE, {"NCCL_SOCKET_IFNAME": "^docker"}, "socket-exclude-drops-builtin"
    ),
    "an exclusion that leaves the card": Alone((CARD, DOCKER), None, {"NCCL_SOCKET_IFNAME": "^docker,lo"}),
    **{
        f"{name} alone": Alone((up(name, "10.7.0.2/24"),), ALONE)
        for name in ("wg0", "tailscale0", "tun0", "ztabcdefgh")
    },
    **{
        f"{name} before the card": Alone((up(name, "10.7.0.2/24", kind=kind), CARD), INSIDE)
        for name, kind in (
            ("cni0", "bridge"),
            ("podman0", "bridge"),
            ("lxcbr0", "bridge"),
            ("flannel.1", "veth"),
            ("cilium_host", "veth"),
            ("vxlan.calico", "veth"),
            ("wg0", "veth"),
            ("tap0", "veth"),
            ("lab-net", "bridge"),
        )
    },
}


@pytest.mark.sweep
@pytest.mark.parametrize("name", tenth(HOSTS))
def test_a_host_alone(name: str, namespace: Callable[[], Namespace], program: list[str]) -> None:
    case, space = HOSTS[name], namespace()
    space.build(*case.wires)
    done = answered(space, program, "check", "--no-nccl", "--format", "json", env=case.env)
    assert sorted(alarms(done)) == sorted(filter(None, (case.found, case.besides)))


class Host(NamedTuple):
    """Interfaces of a host, then what ``ip`` is asked to do there."""

    wires: tuple[Wire, ...]
    commands: tuple[str, ...] = ()


class Several(NamedTuple):
    """Two hosts of a job and the rules that fire."""

    one: Host
    other: Host
    found: tuple[str, ...] = ()
    env: dict[str, str] = {}  # noqa: RUF012


def eth(address: str, *commands: str) -> Host:
    return Host((up("eth0", address),), commands)


APART = "socket-nodes-different-subnet"
JOBS = {
    "one network": Several(eth("10.5.0.1/24"), eth("10.5.0.2/24")),
    "one address twice": Several(eth("10.5.0.1/24"), eth("10.5.0.1/24"), ("socket-address-twice",)),
    "no route": Several(eth("10.5.0.1/24"), eth("10.6.0.1/24"), (APART, APART)),
    "networks that are routed": Several(
        eth("10.5.0.1/24", "route add default via 10.5.0.254"), eth("10.6.0.1/24", "route add default via 10.6.0.254")
    ),
    "a route that swallows": Several(
        eth("10.5.0.1/24", "route add default via 10.5.0.254", "route add blackhole 10.6.0.0/24"),
        eth("10.6.0.1/24", "route add default via 10.6.0.254"),
        (APART,),
    ),
    "a route that refuses": Several(
        eth("10.5.0.1/24", "route add default via 10.5.0.254", "route add unreachable 10.6.0.0/24"),
        eth("10.6.0.1/24", "route add default via 10.6.0.254"),
        (APART,),
    ),
    "another length of prefix": Several(eth("10.5.0.1/24"), eth("10.5.0.2/16"), ("socket-prefix-differs",)),
    "32 bits without a route": Several(eth("10.5.0.1/32"), eth("10.5.0.2/32"), (APART, APART)),
    "32 bits with a route": Several(
        eth("10.5.0.1/32", "route add 10.5.0.2 dev eth0"), eth("10.5.0.2/32", "route add 10.5.0.1 dev eth0")
    ),
    "jumbo frames on one side": Several(
        eth("10.5.0.1/24", "link set eth0 mtu 9000"), eth("10.5.0.2/24"), ("socket-mtu-mismatch",)
    ),
    "jumbo frames on both": Several(
        eth("10.5.0.1/24", "link set eth0 mtu 9000"), eth("10.5.0.2/24", "link set eth0 mtu 9000")
    ),
    "a name that one host has": Several(
        eth("10.5.0.1/24"),
        Host((up("enp6s0", "10.5.0.2/24"),)),
        ("socket-ifname-differs-across-nodes", "socket-ifname-no-match"),
        {"NCCL_SOCKET_IFNAME": "eth0"},
    ),
    "names that differ, and none is asked for": Several(eth("10.5.0.1/24"), Host((up("enp6s0", "10.5.0.2/24"),))),
    "IPv4 on one side, IPv6 on the other": Several(eth("10.5.0.1/24"), eth("2001:db8::2/64"), (APART, APART)),
    "Docker's bridge on both": Several(
        Host((up("eth0", "10.5.0.1/24"), DOCKER)), Host((up("eth0", "10.5.0.2/24"), DOCKER))
    ),
}


@pytest.mark.sweep
@pytest.mark.parametrize("name", tenth(JOBS))
def test_hosts_of_one_job(
    name: str, namespace: Callable[[], Namespace], program: list[str], tmp_path: Path,
    ncdiag: Callable[..., subprocess.CompletedProcess[bytes]],
) -> None:  # fmt: skip
    case, bundles = JOBS[name], []
    for host in (case.one, case.other):
        space = namespace()
        space.build(*host.wires)
        for command in host.commands:
            subprocess.run(["ip", "-n", space.name, *command.split()], check=True)
        bundles.append(str(tmp_path / f"{space.name}.tar.gz"))
        answered(space, program, "collect", "-q", "--no-nccl", "-o", bundles[-1], env=case.env)
    assert sorted(alarms(ncdiag("check", *bundles, "--format", "json"))) == sorted(case.found)


def answered(
    space: Namespace, program: list[str], *words: str, env: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    """The same, where the program has to give an answer."""
    done = ran(space, program, *words, env=env)
    assert done.returncode in {0, 1}, done.stderr
    return done


def alarms(done: subprocess.CompletedProcess[str] | subprocess.CompletedProcess[bytes]) -> list[str]:
    """The names of findings that would send somebody looking."""
    report: dict[str, Any] = json.loads(done.stdout)
    assert report["faults"] == []
    return [
        found["name"] for found in report["findings"] if found["severity"] != "info" and not is_of_the_machine(found)
    ]


def is_of_the_machine(found: dict[str, Any]) -> bool:
    """True for what the kernel's log alone says: it is that of the machine, and what happened there is not planted."""
    return bool(found["evidence"]) and all("dmesg" in span["source"] for span in found["evidence"])
