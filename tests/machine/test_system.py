"""Processors, capabilities, memory, ports and counters: each format once, and what is no answer."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ncdiag.facts.observe import Observation
from ncdiag.machine import sysfs, sysfs_rdma, sysfs_system
from ncdiag.machine.live import collect
from ncdiag.machine.recording import Recorded, ReplayedTree
from ncdiag.machine.tree import Tree

CLOCK = "sys/devices/system/clocksource/clocksource0/current_clocksource"
GOVERNOR = "sys/devices/system/cpu/cpu{}/cpufreq/scaling_governor"
IDLE = "sys/devices/system/cpu/cpu0/cpuidle/state{}/{}"
TCP = "  sl  local_address rem_address   st tx_queue rx_queue\n"


def observed(root: Path, files: dict[str, str]) -> dict[str, Any]:
    """What all readers say of the host itself."""
    for path, text in files.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    tree, found = Tree(root, "n1"), {}
    for read in sysfs.readers().values():
        for observation in read(tree):
            found.update(observation.fields if observation.entity == "Host" else {})
    return found


@pytest.mark.parametrize(
    ("files", "fields"),
    [
        ({CLOCK: "hpet\n"}, {"clock_source": "hpet"}),
        (
            {GOVERNOR.format(0): "powersave\n", GOVERNOR.format(1): "schedutil\n", GOVERNOR.format(10): "powersave\n"},
            {"cpu_governors": {"powersave": 2, "schedutil": 1}},
        ),
        ({"proc/self/status": "Name:\tx\nCapEff:\t0000000000004000\n"}, {"capabilities": ["IPC_LOCK"]}),
        ({"proc/self/status": "CapEff:\t0000000000000000\n"}, {"capabilities": []}),
        ({"proc/self/status": "CapEff:\tnonsense\n"}, {"capabilities": None}),
        ({"proc/self/status": "Name:\tx\n"}, {"capabilities": None}),
        ({"proc/self/status": "Cpus_allowed_list:\t0-3\n"}, {"process_cpus": None}),
        (
            {IDLE.format(0, "name"): "POLL\n", IDLE.format(1, "name"): "C6\n", IDLE.format(1, "latency"): "190\n",
             IDLE.format(1, "disable"): "0\n", IDLE.format(1, "usage"): "9\n", IDLE.format(2, "latency"): "7\n"},
            {"idle_states": [{"name": "POLL"}, {"name": "C6", "latency_us": 190, "used": True, "disabled": False}]},
        ),
        ({IDLE.format("X", "name"): "C1\n"}, {"idle_states": None}),
        ({"sys/fs/cgroup/memory.max": "1073741824\n"}, {"memory_limit_bytes": 1 << 30}),
        ({"sys/fs/cgroup/memory.max": "max\n"}, {"memory_limit_bytes": None}),
        ({"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"}, {"memory_limit_bytes": None}),
        ({"sys/fs/cgroup/memory.events": "low 0\noom 3\noom_kill 2\n"}, {"oom_kills": 2}),
        ({"sys/fs/cgroup/memory/memory.oom_control": "under_oom 0\noom_kill 1\n"}, {"oom_kills": 1}),
        (
            {"proc/net/tcp": f"{TCP}   0: 0100007F:7379 00000000:0000 0A 0\n   1: 0A00000A:1F90 0B00000A:0016 01 0\n"},
            {"listening_ports": [29561]},
        ),
        ({"proc/net/tcp": TCP + "garbage\n 0: x:zz 0:0 0A\n"}, {"listening_ports": []}),
        ({"proc/net/tcp6": TCP + " 0: 0:0016 0:0 0A\n"}, {"listening_ports": None}),
        ({"proc/net/ip_tables_names": "nat\nfilter\n"}, {"packet_filters": ["filter", "nat"]}),
        ({"proc/net/ip_tables_names": ""}, {"packet_filters": []}),
        ({"etc/hostname": "n1"}, {"packet_filters": None, "clock_source": None, "cpu_governors": None}),
        (
            {"proc/sys/net/ipv4/ip_local_port_range": "32768\t60999\n", "proc/sys/net/ipv4/conf/all/rp_filter": "1\n"},
            {"sysctls": {"net.ipv4.ip_local_port_range": "32768 60999", "net.ipv4.conf.all.rp_filter": "1"}},
        ),
    ],
)  # fmt: skip
def test_what_a_file_tells(tmp_path: Path, files: dict[str, str], fields: dict[str, Any]) -> None:
    found = observed(tmp_path, files)
    assert {name: found.get(name) for name in fields} == fields


def test_the_processors_of_the_process_in_question(tmp_path: Path) -> None:
    (tmp_path / "proc/77").mkdir(parents=True)
    (tmp_path / "proc/77/status").write_text("Name:\tpython\nCpus_allowed:\tff\nCpus_allowed_list:\t64-95\n")
    tree = Tree(tmp_path, "n1")
    tree.answers["process"] = 77
    [found] = sysfs_system.affinity(tree)
    assert found.fields == {"process_cpus": [{"pid": 77, "cpus": "64-95"}]}
    assert (found.span.line, found.span.source) == (3, str(tmp_path / "proc/77/status"))


def test_a_port_that_is_taken_here() -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        [found] = list(sysfs_system.ports(Tree(Path("/"), "n1")))
        assert server.getsockname()[1] in found.fields["listening_ports"]


def test_the_port_that_the_next_job_needs(ncdiag: Callable[..., subprocess.CompletedProcess[bytes]]) -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        port = server.getsockname()[1]
        variables = {"MASTER_ADDR": "localhost", "MASTER_PORT": str(port)}
        server.listen()
        taken = json.loads(ncdiag("check", "--no-nccl", "--format", "json", env=variables).stdout)
    free = json.loads(ncdiag("check", "--no-nccl", "--format", "json", env=variables).stdout)
    named = [{finding["name"]: finding["title"] for finding in report["findings"]} for report in (taken, free)]
    assert f"already listens on port {port}," in named[0]["launcher-master-port-taken"]
    assert "launcher-master-port-taken" not in named[1]


PORT = "sys/class/infiniband/mlx5_0/ports/1"


def test_two_samples_of_counters(tmp_path: Path) -> None:
    counter = tmp_path / PORT / "counters" / "symbol_error"
    counter.parent.mkdir(parents=True)
    counter.write_text("5\n")
    tree = Tree(tmp_path, "n1")
    first = [o for o in sysfs_rdma.rdma(tree) if "counters" in o.fields]
    threading.Timer(0.05, counter.write_text, ["47\n"]).start()
    [second] = sysfs_rdma.sample_again(tree, first, 0.4) or []
    assert second["symbol_error"] == 47
    assert 0.4 <= second["seconds"] < 5
    assert sysfs_rdma.sample_again(tree, first, 0) is None
    assert sysfs_rdma.sample_again(tree, [], 1) is None

    recorded = Recorded(
        host="n1",
        files={f"{PORT}/counters/symbol_error": b"5\n"},
        folders={
            "sys/class/infiniband": ["mlx5_0"], "sys/class/infiniband/mlx5_0/ports": ["1"],
            f"{PORT}/counters": ["symbol_error"],
        },
        answers={"second sample of counters": [second]},
    )  # fmt: skip
    seen = collect(tree=ReplayedTree(recorded, "x.tar.gz"))
    deltas = [o for o in seen.observations if "counter_deltas" in o.fields]
    assert [(o.key, o.fields["counter_deltas"]) for o in deltas] == [(("mlx5_0", 1), {"symbol_error": 42})]


def test_patterns_stay_within_a_part_of_a_path(tmp_path: Path) -> None:
    for path in ("home/ada/.nccl.conf", "home/bo/.nccl.conf", "home/ada/deep/.nccl.conf", "home/.nccl.conf"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("")
    tree = Tree(tmp_path, "n1")
    assert tree.matches("home/*/.nccl.conf") == ["home/ada/.nccl.conf", "home/bo/.nccl.conf"]
    assert tree.matches("/home/ada") == ["home/ada"]
    assert tree.matches("no/*/such") == []


def test_a_question_is_asked_once(tmp_path: Path) -> None:
    tree, asked = Tree(Path("/"), "n1"), []

    def user() -> int:
        asked.append(os.geteuid())
        return asked[-1]

    assert [tree.ask("user id", user) for _ in range(2)] == [os.geteuid()] * 2
    assert asked == [os.geteuid()]
    assert Tree(tmp_path, "n1").ask("user id", os.geteuid) is None


def test_observations_of_a_file_name_it(tmp_path: Path) -> None:
    (tmp_path / CLOCK).parent.mkdir(parents=True)
    (tmp_path / CLOCK).write_text("tsc\n")
    [found] = list(sysfs_system.processors(Tree(tmp_path, "n1")))
    assert isinstance(found, Observation)
    assert (found.span.source, found.span.text) == (f"{tmp_path}/{CLOCK}", "tsc")
