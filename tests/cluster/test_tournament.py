"""The order of the tries, and the agent in old Pythons."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from pathlib import Path

import pytest
from linear import assert_linear
from processes import interpreter

from ncdiag.agent.addresses import is_here
from ncdiag.agent.probe.bandwidth import near, rdma_ports
from ncdiag.agent.probe.main import partner, turns
from ncdiag.agent.probe.rails import rails
from ncdiag.agent.probe.server import line_of
from ncdiag.agent.wrap import wrapped
from ncdiag.apps.cluster import remote
from ncdiag.apps.cluster.envelope import Envelopes
from ncdiag.apps.cluster.probing import Trial, introduced, table
from ncdiag.apps.cluster.talk import Talk

PYTHONS = ("3.6", "3.8", "3.13")


@pytest.mark.parametrize("count", [2, 3, 4, 5, 8, 9, 64])
def test_each_meets_each_other_once_and_one_at_a_time(count: int) -> None:
    met = []
    for turn in turns(count, count):
        pairs = [(place, partner(place, turn, count)) for place in range(count)]
        assert all(partner(other, turn, count) == place for place, other in pairs)
        met += [(place, other) for place, other in pairs if place != other]
    assert sorted(met) == [(a, b) for a in range(count) for b in range(count) if a != b]


def test_the_number_of_rounds_is_bounded_and_they_differ() -> None:
    played = turns(500, 64)
    assert len(set(played)) == 64
    partners = {partner(7, turn, 500) for turn in played}
    assert len(partners) == 64


@pytest.mark.parametrize("version", PYTHONS)
def test_the_agent_speaks_in_every_python_and_leaves(version: str, tmp_path: Path) -> None:
    python = interpreter(version)
    if python is None:
        pytest.skip(f"no python{version} here")
    needs = {"programs": [python, "no-such-program"], "paths": [str(tmp_path), str(tmp_path / "gone")]}
    plan = {"wait": 20, "seconds": 1, "ports": [], "within": None, "bandwidth": 2, "nccl_tests": "x", "needs": needs}
    command = remote.agent(plan)
    line = command.replace("for p in python3 ", f"for p in {python} python3 ")
    with subprocess.Popen(["sh", "-c", line], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        taken = Envelopes()
        while not any(taken.is_whole(host) for host in taken.hosts()):
            assert taken.take(running.stdout.readline().decode())
        (host,) = taken.hosts()
        told = json.loads(taken.data(host))
        assert told["token"]
        assert introduced(taken.data(host)) is not None
        assert all(len(one["ports"]) >= 2 for one in told["interfaces"])
        running.stdin.write(table({host: taken.data(host)}, Trial(seconds=1, bandwidth=10), {}))
        running.stdin.flush()
        taken = Envelopes()
        while not taken.is_whole(host):
            assert taken.take(running.stdout.readline().decode())
        lines = taken.data(host).decode().splitlines()
        assert any(line.startswith(f"probe {host} is user ") and f" uid {os.geteuid()}, " in line for line in lines)
        assert any(f" has program {python} at {python}, Python {version}." in line for line in lines)
        assert f"probe {host} lacks program no-such-program" in lines
        assert f"probe {host} has folder {tmp_path}" in lines
        assert f"probe {host} lacks {tmp_path}/gone: no such file or directory" in lines
        running.stdin.close()
        assert running.wait(120) == 143


ONE = {"name": "eth0", "address": "10.0.0.1", "prefix": 16, "mtu": 1500, "index": 2, "mac": None, "ports": [4000]}


@pytest.mark.parametrize(
    "changed",
    [
        {"address": "localhost"},
        {"name": "a\nb"},
        {"ports": []},
        {"ports": [0]},
        {"prefix": 64},
        {"mtu": "x"},
        {"mac": "x"},
    ],
)
def test_an_introduction_that_others_cannot_use_is_left_out(changed: dict[str, object]) -> None:
    def told(**one: object) -> bytes:
        return json.dumps({"token": "ab12", "interfaces": [one], "range": [32768, 60999]}).encode()

    assert introduced(told(**ONE)) is not None
    assert introduced(told(**{**ONE, **changed})) is None
    assert introduced(b"no JSON") is None


def said(host: str, text: bytes) -> list[str]:
    return "".join(wrapped(text, host)).splitlines(keepends=True)


def test_the_word_is_due_once_all_have_spoken_or_are_gone() -> None:
    talk = Talk(lambda told: b",".join(told.values()) + b"\n", wait=3600, seconds=3600)
    talk.begin(["n1", "n2", "n3"])
    for line in [*said("n1", b"one"), *said("n2", b"two"), "a banner"]:
        talk.take(line)
    assert talk.due() is None
    talk.gone("n3")
    assert talk.due() == b"one,two\n"
    assert talk.due() is None
    assert not talk.is_over()
    for line in [*said("n1", b"first"), *said("n2", b"second")]:
        talk.take(line)
    assert talk.is_over()
    assert (talk.data("n1"), talk.data("n2")) == (b"first", b"second")


def test_listening_grows_with_the_number_of_hosts() -> None:
    def lines(count: int) -> list[str]:
        return [line for number in range(count) for line in said(f"n{number}", b"one")]

    def hear(lines: list[str]) -> None:
        talk = Talk(lambda _: b"", wait=3600, seconds=3600)
        talk.begin([*lines, "silent"])
        for line in lines:
            talk.take(line)
            talk.due()

    assert_linear(hear, lines, 200)


def test_the_word_does_not_wait_for_ever() -> None:
    talk = Talk(lambda told: b",".join(told.values()), wait=0, seconds=0)
    talk.begin(["n1", "n2"])
    for line in said("n1", b"one"):
        talk.take(line)
    assert talk.due() == b"one"
    time.sleep(0.01)
    assert talk.is_over()
    assert "did not return its results" in talk.problem("n1")
    assert "did not answer" in talk.problem("n2")


def test_a_line_that_comes_too_slowly_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = socket.socketpair()
    with one, other:
        one.sendall(b"no end")
        monkeypatch.setattr("ncdiag.agent.probe.server._LONGEST", -1)
        assert not line_of(other)


def test_what_is_measured_runs_near_its_card(tmp_path: Path) -> None:
    """A tree of /sys in which the card is on the node of one CPU that this process may use."""
    own = os.sched_getaffinity(0)
    (tmp_path / "class" / "infiniband" / "mlx5_0" / "device").mkdir(parents=True)
    (tmp_path / "class" / "infiniband" / "mlx5_0" / "device" / "numa_node").write_text("1\n")
    node = tmp_path / "devices" / "system" / "node" / "node1"
    node.mkdir(parents=True)
    (node / "cpulist").write_text(f"{max(own)},4000-4010\n")
    with near("mlx5_0", str(tmp_path)):
        assert os.sched_getaffinity(0) == {max(own)}
    with near("mlx5_7", str(tmp_path)):
        assert os.sched_getaffinity(0) == own
    assert os.sched_getaffinity(0) == own


def port(hca: str, layer: str = "InfiniBand") -> dict[str, object]:
    return {"hca": hca, "port": 1, "layer": layer}


def test_ports_of_the_same_rail_are_measured_against_each_other() -> None:
    own = [port("mlx5_0"), port("mlx5_2"), port("mlx5_bond_0", "Ethernet"), port("ibp9s0")]
    other = [port("mlx5_2"), port("mlx5_3"), port("mlx5_0")]
    met = [(one["hca"], there["hca"]) for one, there in rails(own, other)]
    assert met == [("mlx5_0", "mlx5_0"), ("mlx5_2", "mlx5_2"), ("ibp9s0", "mlx5_3")]


def test_the_active_ports_and_the_gid_that_nccl_would_take(tmp_path: Path) -> None:
    for name, state, layer in (("mlx5_1", "4: ACTIVE", "Ethernet"), ("mlx5_2", "1: DOWN", "Ethernet")):
        place = tmp_path / name / "ports" / "1"
        (place / "gid_attrs" / "types").mkdir(parents=True)
        (place / "gids").mkdir()
        for file, text in (("state", state), ("rate", "100 Gb/sec (4X EDR)"), ("link_layer", layer)):
            (place / file).write_text(f"{text}\n")
        kinds = ["IB/RoCE v1", "RoCE v2", "IB/RoCE v1", "RoCE v2"]
        gids = 2 * ["fe80:0000:0000:0000:0000:0000:0000:0001"] + 2 * ["0000:0000:0000:0000:0000:ffff:0a00:0001"]
        for number, (kind, gid) in enumerate(zip(kinds, gids, strict=True)):
            (place / "gid_attrs" / "types" / str(number)).write_text(f"{kind}\n")
            (place / "gids" / str(number)).write_text(f"{gid}\n")
    assert rdma_ports(str(tmp_path)) == [{"hca": "mlx5_1", "port": 1, "layer": "Ethernet", "rate": 100.0, "gid": 3}]


@pytest.mark.parametrize(
    ("name", "found", "here"),
    [
        ("localhost", [], True),
        ("cn7", [], True),
        ("127.0.0.1", ["127.0.0.1"], True),
        ("other", ["127.0.1.1"], False),
        ("other", ["192.0.2.1", "2001:db8::1"], False),
        ("other", [], False),
    ],
)
def test_the_place_of_the_ranks_is_this_host(name: str, found: list[str], here: bool) -> None:
    """192.0.2.0/24 and 2001:db8::/32 are for documentation (RFC 5737, RFC 3849): no host has them."""
    assert is_here(name, found, "cn7") is here
