"""What a real NCCL library chooses in made-up networks, against what the prediction says it will."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from namespaces import Namespace, Wire

from ncdiag.facts.model import Host, Job
from ncdiag.facts.scalars import VersionRange
from ncdiag.facts.view import View
from ncdiag.fixes.prove import prove
from ncdiag.fixes.values import Values
from ncdiag.nccl import library
from ncdiag.nccl.selection import sockets

pytestmark = [pytest.mark.lab, pytest.mark.root]

LAYOUTS: dict[str, tuple[Wire, ...]] = {
    "a veth before the bond": (
        ("veth5a3f1c2", "veth", "up", ("172.19.0.1/16",)),
        ("bond0", "bridge", "up", ("10.0.0.5/24",)),
    ),
    "only IPv6 on the veth": (
        ("veth5a3f1c2", "veth", "up", ("fe80::4c2/64",)),
        ("eno1", "veth", "up", ("10.0.0.5/24",)),
    ),
    "docker bridges": (
        ("docker0", "bridge", "up", ("172.17.0.1/16",)),
        ("docker_gwbridge", "bridge", "up", ("172.18.0.1/16",)),
        ("eth0", "veth", "up", ("192.168.7.2/24",)),
    ),
    "nothing but docker": (("docker0", "veth", "up", ("172.17.0.1/16",)),),
    "nothing but lo": (("lo", "lo", "up", ()),),
    "ib goes first": (
        ("eth0", "veth", "up", ("192.168.7.2/24",)),
        ("ibmgmt", "veth", "up", ("192.168.8.2/24",)),
        ("ib0", "veth", "up", ("10.9.0.2/24",)),
    ),
    "libvirt without carrier": (
        ("virbr0", "bridge", "up", ("192.168.122.1/24",)),
        ("eth0", "veth", "up", ("192.168.7.2/24",)),
    ),
    "a cable that is out": (
        ("eth0", "veth", "dark", ("10.1.0.1/24",)),
        ("eth1", "veth", "up", ("10.2.0.1/24",)),
    ),
    "one that is down": (
        ("eth0", "veth", "down", ("10.1.0.1/24",)),
        ("eth10", "veth", "up", ("10.10.0.1/24",)),
        ("eth1", "veth", "up", ("10.2.0.1/24",)),
    ),
    "names that begin with lo": (
        ("lowpan0", "veth", "up", ("10.3.0.1/24",)),
        ("tun0", "veth", "up", ("10.8.0.1/24",)),
    ),
    "two addresses and both families": (
        ("eth0", "veth", "up", ("fd00:1::1/64", "10.1.0.1/24", "10.1.1.1/24")),
        ("eth1", "veth", "up", ("fd00:2::1/64",)),
    ),
    "IPv6 alone": (
        ("eth0", "veth", "up", ("fe80::1:1/64",)),
        ("eth1", "veth", "up", ("fd00:2::1/64",)),
    ),
}

SETTINGS: tuple[dict[str, str], ...] = (
    {},
    {"NCCL_SOCKET_IFNAME": "eth"},
    {"NCCL_SOCKET_IFNAME": "eth1"},
    {"NCCL_SOCKET_IFNAME": "=eth1"},
    {"NCCL_SOCKET_IFNAME": "=eth1,bond0,eno1"},
    {"NCCL_SOCKET_IFNAME": "^docker"},
    {"NCCL_SOCKET_IFNAME": "^lo,docker0"},
    {"NCCL_SOCKET_IFNAME": "^=eth0,lo"},
    {"NCCL_SOCKET_IFNAME": "eth0,^lo"},
    {"NCCL_SOCKET_IFNAME": "eth0 "},
    {"NCCL_SOCKET_IFNAME": "^"},
    {"NCCL_SOCKET_IFNAME": "l"},
    {"NCCL_SOCKET_IFNAME": "bond0:10.11.1.2"},
    {"NCCL_SOCKET_FAMILY": "AF_INET6"},
    {"NCCL_SOCKET_FAMILY": "AF_INET", "NCCL_SOCKET_IFNAME": "eth"},
    {"NCCL_SOCKET_FAMILY": "ipv6"},
    {"NCCL_COMM_ID": "10.2.0.7:1234"},
    {"NCCL_COMM_ID": "10.1.0.7:1234", "NCCL_SOCKET_IFNAME": "=eth1"},
    {"NCCL_COMM_ID": "[fd00:2::9]:1234"},
    {"NCCL_COMM_ID": "127.0.0.1:1234"},
)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_prediction_agrees_with_the_library(
    layout: str, namespace: Callable[[], Namespace], nccl_library: Path
) -> None:
    space = namespace()
    space.build(*LAYOUTS[layout])
    interfaces = space.interfaces()
    for settings in SETTINGS:
        answer = library.ask(nccl_library, settings, inside=space.inside)
        assert answer.version is not None, answer.problem
        assert (answer.interface is None) == (answer.result != 0), (settings, answer.log)
        choice = sockets.bootstrap(interfaces, settings, answer.version)
        assert choice.known, (settings, choice)
        predicted = choice.interfaces[0].name if choice.interfaces else None
        assert predicted == answer.interface, (settings, choice, answer.log)
        if predicted:
            assert (answer.address or "").split("%")[0] == choice.interfaces[0].address, (settings, answer.log)
        else:
            assert choice.error
            assert choice.error in answer.log, settings


def test_the_library_takes_the_interface_that_the_fix_names(
    namespace: Callable[[], Namespace], nccl_library: Path
) -> None:
    space = namespace()
    space.build(*LAYOUTS["a veth before the bond"])
    before = library.ask(nccl_library, inside=space.inside)
    assert before.interface == "veth5a3f1c2"
    assert before.version is not None
    version = VersionRange(before.version, before.version)
    host = Host(name="n1", interfaces=space.interfaces(), complete=frozenset({"interfaces"}), nccl_version=version)
    view = View(Job(hosts=(host,), nhosts=1))
    value = Values(view)("shared_interface", {})
    assert value == "=bond0"
    env = {"NCCL_SOCKET_IFNAME": value}
    assert prove(view, env).state == "proved"
    assert library.ask(nccl_library, env, inside=space.inside).interface == "bond0"


def test_library_reports_what_it_is(nccl_library: Path) -> None:
    answer = library.ask(nccl_library)
    assert answer.problem is None
    assert answer.version is not None
    assert answer.version.major == 2
    assert "Bootstrap" in answer.log


def test_a_file_that_is_no_library_is_a_problem_not_an_exception(tmp_path: Path) -> None:
    broken = tmp_path / "libnccl.so.2"
    broken.write_bytes(b"\x7fELF but no more")
    answer = library.ask(broken)
    assert answer.interface is None
    assert answer.problem is not None
    assert "could not be loaded" in answer.problem
