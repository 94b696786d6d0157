"""`ncdiag probe` over real ssh between real network stacks: each planted fault is named, and nothing stays behind."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hosts import Hosts
from processes import until

Sweep = Callable[..., subprocess.CompletedProcess[bytes]]
pytestmark = [pytest.mark.root, pytest.mark.xdist_group("fleet")]
NUMBERS = (signal.SIGINT, signal.SIGKILL)
FOUR = "n[1-4]"


def findings(done: subprocess.CompletedProcess[bytes]) -> dict[str, Any]:
    assert done.stdout, done.stderr
    return {finding["name"]: finding for finding in json.loads(done.stdout)["findings"]}


def names(found: dict[str, Any]) -> set[str]:
    return {name for name in found if name.startswith(("probe-", "host-unanswered"))}


def agents(fleet: Hosts) -> set[int]:
    """The processes on the hosts that are no servers."""
    return {pid for host in fleet.names for pid in fleet.pids(host) if not is_server(pid)}


def is_server(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/comm").read_text().startswith("sshd")
    except OSError:
        return True  # it has just ended


def is_agent(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return b"base64.b64decode" in Path(f"/proc/{pid}/cmdline").read_bytes()
    return False


def test_all_connect(fleet: Hosts, sweep: Sweep, ncdiag: Sweep, tmp_path: Path) -> None:
    count = len(fleet.names)
    picture, saved = tmp_path / "x.svg", tmp_path / "probe.txt"
    done = sweep("probe", "--nodes", f"n[1-{count}]", "--svg", picture, "--save", saved, "--no-color")
    out = done.stdout.decode()
    assert f"10.77.0.0/16 (eth0): {count * (count - 1)} of {count * (count - 1)} pairs connect without a fault" in out
    assert f"probe of {count} hosts: {count} took part" in done.stderr.decode()
    assert all(len(line) <= 80 for line in out.splitlines())
    assert names(findings(ncdiag("triage", saved, "--format", "json"))) == set()
    assert f"{count * (count - 1)} pairs connect" in picture.read_text()
    assert until(lambda: not agents(fleet))


@pytest.mark.long
def test_a_bridge_of_docker_on_each_host(fleet: Hosts, sweep: Sweep) -> None:
    with fleet.bridges("n1", "n2", "n3"):
        found = findings(sweep("probe", "--nodes", FOUR, "--format", "json"))
    assert names(found) == {"probe-interface-inside"}
    assert found["probe-interface-inside"]["hosts"] == ""
    assert "n[1-3] do not reach each other on 172.17.0.0/16" in found["probe-interface-inside"]["title"]
    (fix,) = found["probe-interface-inside"]["fixes"]
    assert fix["env"]["NCCL_SOCKET_IFNAME"].lstrip("=") == "eth0"


def test_a_switch_port_with_a_smaller_mtu(fleet: Hosts, sweep: Sweep) -> None:
    with fleet.black_hole("n3", "n1", "n2", "n4"):
        found = findings(sweep("probe", "--nodes", FOUR, "--format", "json"))
    assert names(found) == {"probe-large-packets-lost"}
    assert "lost to and from n3 in 10.77.0.0/16 (eth0)" in found["probe-large-packets-lost"]["title"]


def test_a_range_of_ports_is_filtered(fleet: Hosts, sweep: Sweep, need: Callable[[str, object, str], None]) -> None:
    need("iptables", shutil.which("iptables"), "iptables is not installed")
    with fleet.filtered("n2", 32768, 47000):
        found = findings(sweep("probe", "--nodes", FOUR, "--format", "json"))
    assert names(found) == {"probe-ports-closed"}
    assert "closed to n2 in" in found["probe-ports-closed"]["title"]


def test_one_host_sends_by_the_other_interface(fleet: Hosts, sweep: Sweep) -> None:
    ways = [f"route add {fleet.rail_address(name)}/32 dev eth0" for name in ("n1", "n2", "n4")]
    with fleet.rail("n1", "n2", "n3", "n4"), fleet.changed("n3", to=ways, back=[w.replace("add", "del") for w in ways]):
        found = findings(sweep("probe", "--nodes", FOUR, "--format", "json"))
    assert names(found) == {"probe-way-differs"}
    title = found["probe-way-differs"]["title"]
    assert "from n3 in 10.78.0.0/24 (eth1)" in title
    assert "n3 sends from eth1 (10.78.0.3) by eth0" in title


@pytest.mark.long
def test_a_rail_is_down(fleet: Hosts, sweep: Sweep) -> None:
    """The switch passes nothing on the second network."""
    with fleet.rail("n1", "n2", "n3"), fleet.changed("switch", to=["link set br1 down"], back=["link set br1 up"]):
        found = findings(sweep("probe", "--nodes", "n[1-3]", "--format", "json"))
    assert names(found) == {"probe-network-unreachable"}
    assert "between n[1-3] in 10.78.0.0/24 (eth1)" in found["probe-network-unreachable"]["title"]
    assert found["probe-network-unreachable"]["fixes"][0]["env"]["NCCL_SOCKET_IFNAME"].lstrip("=") == "eth0"


def test_a_host_that_is_down_is_named(fleet: Hosts, sweep: Sweep) -> None:
    with fleet.changed("n4", to=["link set eth0 down"], back=["link set eth0 up"]):
        done = sweep("probe", "--nodes", FOUR, "--format", "json")
    found = findings(done)
    assert names(found) == {"host-unanswered"}
    assert found["host-unanswered"]["hosts"] == "n4"
    assert b"probe of 4 hosts: 3 took part" in done.stderr


@pytest.mark.long
def test_a_host_that_stops_in_the_middle(fleet: Hosts, sweep: Sweep) -> None:
    stopped: list[int] = []

    def stop() -> None:
        stopped.extend(until(lambda: [pid for pid in fleet.pids("n4") if is_agent(pid)]))
        for pid in stopped:
            os.kill(pid, signal.SIGSTOP)

    stopper = threading.Thread(target=stop)
    stopper.start()
    done = sweep("probe", "--nodes", FOUR, "--seconds", "5", "--start", "20", "--format", "json")
    stopper.join()
    for pid in stopped:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)
    assert stopped
    found = findings(done)
    assert found["host-unanswered"]["hosts"] == "n4"
    assert "probe-large-packets-lost" not in found
    assert until(lambda: not agents(fleet))


@pytest.mark.parametrize("number", [signal.SIGTERM, *(pytest.param(n, marks=pytest.mark.long) for n in NUMBERS)])
def test_nothing_is_left_when_it_is_stopped(
    fleet: Hosts, program: list[str], tmp_path: Path, number: signal.Signals
) -> None:
    line = [*program, "probe", "--nodes", FOUR, "--via", "ssh", "--ssh-options", fleet.ssh]
    with (
        fleet.changed("n3", to=["link set eth0 down"], back=["link set eth0 up"]),
        subprocess.Popen(
            [*fleet.head, *line], cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as running,
    ):
        assert until(lambda: any(is_agent(pid) for pid in agents(fleet)))
        (asking,) = [pid for pid in fleet.pids("head") if is_probe(pid)]
        os.kill(asking, number)
        running.communicate()
        assert until(lambda: not agents(fleet))
        assert until(lambda: not fleet.pids("head"))


def is_probe(pid: int) -> bool:
    words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    name = Path(f"/proc/{pid}/comm").read_text().strip()
    return b"--nodes" in words and name not in {"ip", "unshare", "sh"}


@pytest.mark.long
def test_the_time_is_bounded(fleet: Hosts, sweep: Sweep, need: Callable[[str, object, str], None]) -> None:
    """All ports of all hosts but ssh are dropped; what was not tried in time is said."""
    need("iptables", shutil.which("iptables"), "iptables is not installed")
    with contextlib.ExitStack() as stack:
        for name in fleet.names[:6]:
            stack.enter_context(fleet.filtered(name, 1024, 65535))
        done = sweep("probe", "--nodes", "n[1-6]", "--seconds", "4", "--format", "json")
    found = findings(done)
    assert b"did not test all other hosts in time" in done.stderr
    left_out = json.loads(done.stdout)["summary"]["not_looked_at"]
    assert "connections from n[1-6] to some other hosts (the time of the probe was over)" in left_out
    assert names(found) == {"probe-hosts-cut-off"}
    assert "between n[1-6]" in found["probe-hosts-cut-off"]["title"]


def test_mpirun_is_refused(sweep: Sweep) -> None:
    done = sweep("probe", "--nodes", "n1", via="mpirun")
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"mpirun forwards input only to rank 0" in done.stderr
