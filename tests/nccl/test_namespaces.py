"""Real interfaces in network namespaces, looked at by the whole program: one host alone, and two whose bundles meet."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import namespaces
import pytest
from namespaces import Namespace, Wire

pytestmark = pytest.mark.root

Make = Callable[[], Namespace]


@pytest.fixture
def ran(program: list[str]) -> Callable[..., subprocess.CompletedProcess[str]]:
    """``ran(space, "check", ...)``: the program inside a namespace, on a host of the namespace's name."""

    def run(space: Namespace, *words: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        return namespaces.ran(space, program, *words, env=env)

    return run


Ran = Callable[..., subprocess.CompletedProcess[str]]


def report(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert done.returncode in {0, 1}, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def names(found: dict[str, Any]) -> set[str]:
    return {finding["name"] for finding in found["findings"]}


@pytest.mark.parametrize(("mtu", "cause"), [("9000", "socket-mtu-mismatch"), ("1500", None)])
def test_two_hosts_whose_mtus_differ(
    mtu: str, cause: str | None, namespace: Make, ran: Ran, tmp_path: Path, ncdiag: Ran
) -> None:
    bundles = []
    for number, own in ((1, "1500"), (2, mtu)):
        space = namespace()
        space.build(("eth0", "veth", "up", (f"10.5.0.{number}/24",)), ("eth1", "veth", "up", (f"10.6.{number}.1/24",)))
        subprocess.run(["ip", "-n", space.name, "link", "set", "eth0", "mtu", own], check=True)
        subprocess.run(["ip", "-n", space.name, "link", "set", "eth1", "mtu", str(2000 + number)], check=True)
        bundles.append(str(tmp_path / f"{space.name}.tar.gz"))
        done = ran(space, "collect", "-q", "--no-nccl", "-o", bundles[-1])
        assert done.returncode == 0, done.stderr
    found = report(ncdiag("triage", *bundles, "--format", "json"))
    assert (cause in found["answers"][:1]) is bool(cause)
    assert found["summary"]["verdict"] == "risk-only" if cause else "healthy-as-far-as-seen"
    if cause:
        assert found["findings"][0]["title"].startswith("The MTU differs between the hosts, in 10.5.0.0/24: ")
        assert {Path(item["source"].split(":")[-1]).name for item in found["findings"][0]["evidence"]} == {"mtu"}


@pytest.mark.parametrize(("strict", "second", "fires"), [("1", "10.5.0.2/24", True), ("0", "10.5.0.2/24", False),
                                                         ("1", "10.6.0.2/24", False)])  # fmt: skip
def test_two_cards_in_one_network(strict: str, second: str, fires: bool, namespace: Make, ran: Ran) -> None:
    space = namespace()
    space.build(("eth0", "veth", "up", ("10.5.0.1/24",)), ("eth1", "veth", "up", (second,)))
    options = [f"net.ipv4.conf.{name}.rp_filter={strict}" for name in ("all", "default")]
    subprocess.run([*space.inside, "sysctl", "-qw", *options], check=True)
    found = report(ran(space, "check", "--no-nccl", "--format", "json"))
    assert ("socket-multi-nic-same-subnet" in names(found)) is fires


@pytest.mark.parametrize(
    ("wires", "variables", "chosen"),
    [
        ((("veth7", "veth", "up", ("10.9.0.1/24",)), ("bond0", "bridge", "up", ("10.8.0.1/24",))), (), "veth7"),
        (
            (("veth7", "veth", "up", ("10.9.0.1/24",)), ("bond0", "bridge", "up", ("10.8.0.1/24",))),
            ("NCCL_SOCKET_IFNAME==bond0",), "bond0",
        ),
        ((("eth0", "veth", "up", ("10.9.0.1/24",)),), ("NCCL_SOCKET_IFNAME=^docker",), "lo"),
        ((("eth0", "veth", "up", ("fe80::7/64",)), ("eth1", "veth", "up", ())), (), "eth0"),
        ((("eth0", "veth", "up", ()), ("docker0", "bridge", "up", ("172.17.0.1/16",))), (), "docker0"),
    ],
    ids=["a veth before the bond", "the bond by name", "an exclusion alone lets lo in", "link-local alone", "docker"],
)  # fmt: skip
def test_what_is_predicted_here(
    wires: tuple[Wire, ...], variables: tuple[str, ...], chosen: str, namespace: Make, ran: Ran
) -> None:
    space = namespace()
    space.build(*wires)
    words = [word for variable in variables for word in ("--env", variable)]
    [answer] = report(ran(space, "predict", "--nccl", "2.27.7", "--format", "json", *words))["hosts"]
    assert answer["bootstrap_interface"] == chosen


@pytest.mark.lab
def test_the_library_announces_a_link_local_address(namespace: Make, ran: Ran, nccl_library: Path) -> None:
    space = namespace()
    space.build(("eth0", "veth", "up", ("fe80::7/64",)))
    found = report(ran(space, "check", "--format", "json", env={"LD_LIBRARY_PATH": str(nccl_library.parent)}))
    assert found["answers"][0] == "socket-choice-alone"
    assert "eth0" in found["findings"][0]["title"]
