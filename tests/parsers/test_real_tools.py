"""The tools of this machine, when they are there: all of them tell the same of its interfaces and routes."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from ncdiag.base.spans import Section
from ncdiag.parsers import discover

Fields = dict[tuple[Any, ...], dict[str, Any]]


def read(kind: str, command: str, need: Callable[[str, object, str], None], *, whole: bool = True) -> Fields:
    """What the parser reads of the output; ``whole``: it knows that this is the whole collection."""
    program, *arguments = command.split()
    found = shutil.which(program)
    need(program, found is not None, f"{program} is not installed")
    done = subprocess.run([str(found), *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"{command}: {done.stderr.strip()}")
    lines = tuple(done.stdout.rstrip("\n").split("\n"))
    parser = discover()[kind]
    assert all(parser.continues(lines[:i], lines[i]) for i in range(1, len(lines)))
    result = parser.parse(Section(kind=kind, source="live", first_line=1, lines=lines, command=command))
    assert result.complete or not whole
    assert not result.unread
    return {o.key: o.fields for o in result.observations}


def common(fields: dict[str, Any], names: set[str]) -> dict[str, Any]:
    """These fields; ``ip`` and ``ifconfig`` list the addresses of an interface in different orders."""
    found = {name: fields[name] for name in names if name in fields}
    if "addresses" in found:
        found["addresses"] = sorted(found["addresses"], key=lambda address: str(address["ip"]))
    return found


@pytest.mark.parametrize(
    ("command", "names"),
    [
        ("ip -j addr", {"up", "running", "mtu", "mac", "operstate", "ifindex", "addresses", "master", "parent"}),
        ("ip -j -p addr", {"up", "running", "mtu", "mac", "operstate", "ifindex", "addresses", "master", "parent"}),
        ("ip -d addr", {"up", "running", "mtu", "mac", "operstate", "ifindex", "addresses", "master", "parent"}),
        ("ip -s link", {"up", "running", "mtu", "mac", "operstate", "ifindex", "master", "parent"}),
        ("ip -br addr", {"operstate", "addresses"}),
        ("ifconfig -a", {"up", "mtu", "addresses"}),
    ],
)
def test_layouts_agree(command: str, names: set[str], need: Callable[[str, object, str], None]) -> None:
    expected, found = read("interfaces", "ip addr", need), read("interfaces", command, need)
    assert {key: common(f, names) for key, f in found.items()} == {key: common(f, names) for key, f in expected.items()}


def test_route_tables_agree(need: Callable[[str, object, str], None]) -> None:
    expected, found = read("routes", "ip -4 route", need), read("routes", "route -n", need)
    assert {key: f.get("gateway") for key, f in found.items()} == {key: f.get("gateway") for key, f in expected.items()}


def test_memory_is_the_same_in_every_unit(need: Callable[[str, object, str], None]) -> None:
    commands = ("cat /proc/meminfo", "free", "free -b", "free -m", "free -g", "free -h", "free --mega")
    told = {command: read("memory", command, need, whole=False)[()] for command in commands}
    for name in ("memory_bytes", "memory_available_bytes"):
        values = [fields[name] for fields in told.values()]
        assert max(values) - min(values) < 2 << 30, "free -g cuts off what is less than a GiB, and the machine goes on"
        assert min(values) > 0


def test_the_kernel_says_where_it_would_send(need: Callable[[str, object, str], None]) -> None:
    found = read("route_get", "ip route get 127.0.0.1", need, whole=False)[()]
    assert found == {"route_answers": [{"address": "127.0.0.1", "interface": "lo"}]}


@pytest.mark.root
def test_the_kernel_says_that_it_has_no_route(need: Callable[[str, object, str], None]) -> None:
    need("ip", shutil.which("ip") and shutil.which("unshare"), "ip or unshare is not installed")
    script = (
        "ip link set lo up; ip route add unreachable 203.0.113.0/24; ip route get 192.0.2.1; ip route get 203.0.113.9"
    )
    tried = subprocess.run(
        ["unshare", "-n", "sh", "-c", script], capture_output=True, text=True, check=False, timeout=20
    )
    answers = tried.stderr.strip().split("\n")
    need("unshare", len(answers) == 2 and "RTNETLINK" in tried.stderr, f"no network of our own: {tried.stderr.strip()}")
    for address, answer in zip(("192.0.2.1", "203.0.113.9"), answers, strict=True):
        section = Section(
            kind="route_get", source="live", first_line=1, lines=(answer,), command=f"ip route get {address}"
        )
        found = discover()["route_get"].parse(section)
        assert [o.fields for o in found.observations] == [{"route_answers": [{"address": address}]}]


def test_systemd_names_the_kind_of_machine(need: Callable[[str, object, str], None]) -> None:
    program = shutil.which("systemd-detect-virt")
    need("systemd-detect-virt", program is not None, "systemd-detect-virt is not installed")
    done = subprocess.run([str(program)], capture_output=True, text=True, check=False, timeout=20)  # exit 1: none
    section = Section(
        kind="detect_virt", source="live", first_line=1, lines=(done.stdout.strip(),), command="systemd-detect-virt"
    )
    assert len(discover()["detect_virt"].parse(section).observations) == 1
