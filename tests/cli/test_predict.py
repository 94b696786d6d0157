"""``ncdiag predict``: the choice, the reasons, several releases, what if."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., subprocess.CompletedProcess[bytes]]

FIELDS = {
    "host", "nccl_version", "bootstrap_interface", "socket_interfaces", "net", "ib_devices", "gid", "gdr", "ranks",
    "reasons",
    "known_defects",
}  # fmt: skip

HOST = """\
=== node1 ===
$ ip addr
1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN group default qlen 1000
    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00
    inet 127.0.0.1/8 scope host lo
       valid_lft forever preferred_lft forever
2: virbr0: <NO-CARRIER,BROADCAST,MULTICAST,UP> mtu 1500 qdisc noqueue state DOWN group default qlen 1000
    link/ether 02:00:5e:10:00:01 brd ff:ff:ff:ff:ff:ff
    inet 192.168.122.1/24 brd 192.168.122.255 scope global virbr0
       valid_lft forever preferred_lft forever
3: bond0: <BROADCAST,MULTICAST,MASTER,UP,LOWER_UP> mtu 1500 qdisc mq state UP group default qlen 1000
    link/ether 02:00:5e:10:00:02 brd ff:ff:ff:ff:ff:ff
    inet 10.0.0.5/24 brd 10.0.0.255 scope global bond0
       valid_lft forever preferred_lft forever
$ ibstat
CA 'mlx5_0'
	CA type: MT4129
	Number of ports: 1
	Firmware version: 28.39.1002
	Hardware version: 0
	Node GUID: 0x02005e0000000001
	System image GUID: 0x02005e0000000001
	Port 1:
		State: Active
		Physical state: LinkUp
		Rate: 400
		Base lid: 0
		LMC: 0
		SM lid: 0
		Capability mask: 0x00010000
		Port GUID: 0x02005e0000000001
		Link layer: Ethernet
"""


@pytest.fixture
def paste(tmp_path: Path) -> Path:
    file = tmp_path / "node1.txt"
    file.write_text(HOST)
    return file


@pytest.fixture
def predicted(ncdiag: Run) -> Callable[..., list[dict[str, Any]]]:
    def run(*arguments: str | Path) -> list[dict[str, Any]]:
        done = ncdiag("predict", *arguments, "--format", "json")
        assert done.returncode == 0, done.stderr
        hosts = json.loads(done.stdout)["hosts"]
        assert all(set(host) == FIELDS for host in hosts)
        return list(hosts)

    return run


def test_releases_side_by_side(predicted: Callable[..., list[dict[str, Any]]], paste: Path, ncdiag: Run) -> None:
    old, new = predicted("--nccl", "2.18.3", "--nccl", "2.30.7", paste)
    assert (old["nccl_version"], old["bootstrap_interface"]) == ("2.18.3", "virbr0")
    assert (new["nccl_version"], new["bootstrap_interface"]) == ("2.30.7", "bond0")
    assert (old["socket_interfaces"], new["socket_interfaces"]) == (["virbr0", "bond0"], ["bond0"])
    assert (old["net"], old["ib_devices"]) == ("IB", ["mlx5_0:1"])
    assert (old["gid"], new["gid"]) == ({"mlx5_0:1": 0}, {"mlx5_0:1": None})
    assert old["gdr"]["mlx5_0:1"]["enabled"] is None
    assert {"choice", "about", "text", "rule", "source"} == set(old["reasons"][0])
    text = ncdiag("predict", "--nccl", "2.18.3", "--nccl", "2.30.7", paste).stdout.decode()
    row = next(line for line in text.splitlines() if "bootstrap interface" in line)
    assert row.split()[-2:] == ["virbr0", "bond0"]


def test_a_step_of_several_choices_is_one_line_and_what_was_not_seen_is_last(paste: Path, ncdiag: Run) -> None:
    text = ncdiag("predict", "--nccl", "2.30.7", paste).stdout.decode()
    why, unknown = text.partition("  why\n")[2].split("  not known\n")
    [taken] = [line for line in why.splitlines() if "bond0: taken" in line]
    assert taken.strip().startswith("bootstrap interface, socket interfaces: bond0: taken with 10.0.0.5 (")
    assert "not known" not in why
    assert "    variables that were not seen are assumed to be unset\n" in unknown
    assert "src/" not in unknown


def test_what_if(predicted: Callable[..., list[dict[str, Any]]], paste: Path) -> None:
    (host,) = predicted("--nccl", "2.18.3", "--env", "NCCL_SOCKET_IFNAME==bond0", "--env", "NCCL_IB_DISABLE=1", paste)
    assert (host["bootstrap_interface"], host["net"], host["gid"]) == ("bond0", "Socket", {})
    (host,) = predicted("--nccl", "2.18.3", "--env", "NCCL_SOCKET_IFNAME=nothere", paste)
    assert host["bootstrap_interface"] is None
    assert any("no socket interface found" in reason["text"] for reason in host["reasons"])


def test_ranks_that_differ(predicted: Callable[..., list[dict[str, Any]]], paste: Path) -> None:
    paste.write_text(
        HOST + "\n"
        "node1:10:10 [0] NCCL INFO NCCL_SOCKET_IFNAME set by environment to bond0\n"
        "node1:10:10 [0] NCCL INFO NCCL version 2.18.3+cuda12.1\n"
        "node1:11:11 [1] NCCL INFO NCCL_SOCKET_IFNAME set by environment to virbr\n"
        "node1:10:20 [0] NCCL INFO comm 0x55d0 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 1000 commId 0x1 - Init START\n"
        "node1:11:21 [1] NCCL INFO comm 0x55d1 rank 1 nranks 2 cudaDev 1 nvmlDev 1 busId 2000 commId 0x1 - Init START\n"
    )
    (host,) = predicted(paste)
    assert host["bootstrap_interface"] in {"bond0", "virbr0"}
    (rank,) = host["ranks"]
    assert {host["bootstrap_interface"], rank["bootstrap_interface"]} == {"bond0", "virbr0"}
    assert set(rank) == (FIELDS - {"host", "nccl_version", "ranks", "known_defects"}) | {"rank"}


def test_a_log_that_shows_something_else(ncdiag: Run, paste: Path) -> None:
    paste.write_text(
        HOST + "\nnode1:10:10 [0] NCCL INFO Bootstrap : Using bond0:10.0.0.5<0>\n"
        "node1:10:10 [0] NCCL INFO NCCL version 2.18.3+cuda12.1\n"
    )
    text = ncdiag("predict", paste).stdout.decode()
    assert "the log shows something else: bond0" in text


MORE = """\
$ nvidia-smi topo -m
\tGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity
GPU0\t X \tNV18\tPIX\t0-31\t0
GPU1\tNV18\t X \tSYS\t32-63\t1
NIC0\tPIX\tSYS\t X

Legend:

  X    = Self

NIC Legend:

  NIC0: mlx5_0
$ cat /etc/nccl.conf
NCCL_IB_DISABLE=true
NCCL_SOCKET_IFNAME==bond0
"""


def test_gpus_nics_and_conf_files(predicted: Callable[..., list[dict[str, Any]]], paste: Path, ncdiag: Run) -> None:
    paste.write_text(HOST + MORE)
    (host,) = predicted("--nccl", "2.18.3", paste)
    assert (host["bootstrap_interface"], host["net"]) == ("bond0", "IB")
    texts = {(reason["choice"], reason["about"]): reason["text"] for reason in host["reasons"]}
    assert texts["settings", "NCCL_SOCKET_IFNAME"] == "=bond0 comes from /etc/nccl.conf"
    assert any(
        r["text"].endswith("=true: NCCL reads 0, the opposite of what was intended (1)") for r in host["reasons"]
    )
    assert texts["nics", "GPU0"].startswith("mlx5_0: the only NIC, PIX")
    assert texts["p2p", "GPU0-GPU1"].startswith("P2P: NVL is within")
    text = ncdiag("predict", "--nccl", "2.18.3", "--env", "NCCL_P2P_DISABLE=1", paste).stdout.decode()
    rows = dict(line.split("  ", 1) for line in (row.strip() for row in text.splitlines()) if "  " in line)
    assert rows["between GPUs"].strip() == "SHM"
    assert rows["nearest NICs"].strip() == "GPU0 mlx5_0, GPU1 mlx5_0"


@pytest.mark.parametrize("version", ["2.5.7", "2.18.3", "2.27.7", "2.30.7"])
def test_every_reason_names_its_rule_and_the_place_in_the_source(
    predicted: Callable[..., list[dict[str, Any]]], paste: Path, version: str
) -> None:
    paste.write_text(HOST + MORE)
    (host,) = predicted("--nccl", version, paste)
    told = [reason for reason in host["reasons"] if reason["rule"] != "not known"]
    assert {
        "bootstrap_interface",
        "socket_interfaces",
        "net",
        "ib_devices",
        "gid",
        "gdr",
        "nics",
        "p2p",
        "settings",
    } <= {reason["choice"] for reason in host["reasons"]}
    places = {reason["source"] for reason in told}
    assert all(re.fullmatch(r"src/[\w/.]+:\d+ \(v2\.\d+\.\d+-\d\)", place) for place in places), places


def test_a_difference_is_a_finding(ncdiag: Run, paste: Path) -> None:
    paste.write_text(
        HOST + "\nnode1:10:10 [0] NCCL INFO Bootstrap : Using bond0:10.0.0.5<0>\n"
        "node1:10:10 [0] NCCL INFO NCCL version 2.18.3+cuda12.1\n"
    )
    report = json.loads(ncdiag("triage", paste, "--format", "json").stdout)
    found = next(finding for finding in report["findings"] if finding["name"] == "env-choice-unexplained")
    assert "bond0" in found["title"]
    assert "virbr0" in found["title"]
    assert found["evidence"][0]["text"].endswith("Using bond0:10.0.0.5<0>")


def test_this_host(predicted: Callable[..., list[dict[str, Any]]]) -> None:
    (host,) = predicted("--nccl", "2.27.7")
    assert host["bootstrap_interface"] is not None
    assert predicted("--nccl", "2.27.7", "live")[0]["bootstrap_interface"] == host["bootstrap_interface"]


def test_this_host_and_its_bundle_agree(ncdiag: Run, tmp_path: Path) -> None:
    """A plugin that a program here would load is seen by the one look that ``collect`` takes, too."""
    (tmp_path / "libnccl-net.so").touch()
    env = {"LD_LIBRARY_PATH": str(tmp_path)}
    bundle = tmp_path / "b.tar.gz"
    assert ncdiag("collect", "--no-nccl", "-o", bundle, env=env).returncode == 0
    here, there = (
        ncdiag("predict", "--no-nccl", "--nccl", "2.27.7", "--format", "json", *files, env=env)
        for files in ([], [bundle])
    )
    assert json.loads(here.stdout) == json.loads(there.stdout)
    (host,) = json.loads(here.stdout)["hosts"]
    assert host["net"] is None
    assert any("libnccl-net.so may be loaded" in reason["text"] for reason in host["reasons"])


@pytest.mark.parametrize("wrong", [("--nccl", "new"), ("--env", "NCCL_DEBUG"), ("--format", "xml")])
def test_usage(ncdiag: Run, wrong: tuple[str, str], paste: Path) -> None:
    done = ncdiag("predict", *wrong, paste)
    assert done.returncode == 2
    assert b"Traceback" not in done.stderr


def test_nothing_understood(ncdiag: Run, tmp_path: Path) -> None:
    file = tmp_path / "poem.txt"
    file.write_text("no host far and wide\n")
    assert ncdiag("predict", file).returncode == 3


def test_known_defects_are_marked_release_by_release(
    predicted: Callable[..., list[dict[str, Any]]], tmp_path: Path
) -> None:
    text = tmp_path / "gpus.txt"
    text.write_text(
        "[root@n1 ~]# nvidia-smi -L\nGPU 0: NVIDIA GeForce RTX 5090 (UUID: GPU-6f2e8a4c)\n", encoding="utf-8"
    )
    old, new = predicted(str(text), "--nccl", "2.26.2", "--nccl", "2.28.7")
    assert [told.partition(" (")[2] for told in old["known_defects"]] == ["fixed in 2.27.3)"]
    assert new["known_defects"] == []
    (changed,) = predicted(str(text), "--nccl", "2.22.3", "--env", "NCCL_CROSS_NIC=1")
    assert all("NCCL_CROSS_NIC=1" in told for told in changed["known_defects"])
    assert changed["known_defects"]
