"""The tools of this machine, when they are there: all of them tell the same of its interfaces and routes."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from ncdiag.parsers import discover
from ncdiag.spans import Section

Fields = dict[tuple[Any, ...], dict[str, Any]]


def read(kind: str, command: str, need: Callable[[str, bool, str], None]) -> Fields:
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
    assert result.complete
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
def test_layouts_agree(command: str, names: set[str], need: Callable[[str, bool, str], None]) -> None:
    expected, found = read("interfaces", "ip addr", need), read("interfaces", command, need)
    assert {key: common(f, names) for key, f in found.items()} == {key: common(f, names) for key, f in expected.items()}


def test_route_tables_agree(need: Callable[[str, bool, str], None]) -> None:
    expected, found = read("routes", "ip -4 route", need), read("routes", "route -n", need)
    assert {key: f.get("gateway") for key, f in found.items()} == {key: f.get("gateway") for key, f in expected.items()}
