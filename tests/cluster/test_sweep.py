"""`check --nodes` over real ssh: every host counts, whatever became of it, and nothing stays behind."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hosts import Hosts
from processes import seen_on, until

from ncdiag.apps.cluster import remote
from ncdiag.apps.cluster.envelope import Envelopes
from ncdiag.apps.cluster.model import Answer
from ncdiag.apps.cluster.sweep import machines

Sweep = Callable[..., subprocess.CompletedProcess[bytes]]
pytestmark = [pytest.mark.root, pytest.mark.xdist_group("fleet")]
NUMBERS = (signal.SIGINT, signal.SIGKILL)


def all_of(fleet: Hosts) -> str:
    return f"n[1-{len(fleet.names)}]"


def report(done: subprocess.CompletedProcess[bytes]) -> Any:  # noqa: ANN401
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


def found(report: Any, name: str) -> Any:  # noqa: ANN401
    return next(finding for finding in report["findings"] if finding["name"] == name)


def work(fleet: Hosts) -> set[int]:
    """The processes on the hosts that are no servers."""
    pids = {pid for host in fleet.names for pid in fleet.pids(host)}
    return {pid for pid in pids if not name_of(pid).startswith("sshd")}


def name_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return "sshd"  # it has just ended


def listing() -> set[str]:
    """What ncdiag keeps in the folders that the hosts share with this machine; other tests write there meanwhile."""
    folders = ["/tmp", "/var/tmp", "/dev/shm", "/root"]  # noqa: S108  (read, not written)
    return {str(path) for folder in folders for path in Path(folder).iterdir() if "ncdiag" in path.name}


def test_all_answer(fleet: Hosts, sweep: Sweep) -> None:
    done = sweep("check", "--nodes", all_of(fleet), "--format", "json")
    told = report(done)
    assert f"{len(fleet.names)} of {len(fleet.names)} hosts answered" in done.stderr.decode()
    assert sorted({item["source"] for item in told["inputs"]} & {*fleet.names}) == sorted(fleet.names)
    assert "host-unanswered" not in {finding["name"] for finding in told["findings"]}
    assert until(lambda: not work(fleet))


def test_a_program_is_sent_where_there_is_none(fleet: Hosts, sweep: Sweep, monkeypatch: pytest.MonkeyPatch) -> None:
    before = listing()
    done = sweep("check", "--nodes", "n[1-3]", "--push", "--format", "json", "--no-nccl")
    told = report(done)
    assert b"3 of 3 hosts answered" in done.stderr
    assert {"n1", "n2", "n3"} <= {item["source"] for item in told["inputs"]}
    assert until(lambda: not work(fleet))
    new = {path for path in listing() - before if not Path(path).name.startswith("ncdiag-hang-")}
    assert until(lambda: not new & listing())  # folders of `ncdiag run` in other tests go when their jobs end
    monkeypatch.setattr("ncdiag.apps.cluster.remote._PYTHONS", "no-python-here")
    line = [*fleet.head, "ssh", "-F", f"{fleet.folder}/ssh_config", "n1", remote.pushed(20)]
    alone = subprocess.run(line, capture_output=True, check=False, stdin=subprocess.DEVNULL)
    taken = Envelopes()
    for text in alone.stdout.decode().splitlines():
        taken.take(text)
    (machine,) = machines(Answer("n1", data=taken.data("n1")))
    assert machine.host == "n1"


def test_without_a_program_the_host_says_so(fleet: Hosts, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("ncdiag.apps.cluster.remote.sys.executable", str(tmp_path / "python"))
    line = [*fleet.inside("n1"), "env", "PATH=/usr/bin:/bin", "sh", "-c", remote.installed(20)]
    done = subprocess.run(line, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    assert (done.returncode, done.stdout) == (127, f"{remote.NONE} ncdiag\n")


def test_hosts_that_do_not_answer_are_findings(fleet: Hosts, sweep: Sweep) -> None:
    """One without an sshd, one whose network is down, one that never ends."""
    for pid in fleet.pids("n2"):
        os.kill(pid, signal.SIGKILL)
    fleet.run("n3", "ip", "link", "set", "eth0", "down")
    try:
        with fleet.stuck("sh", "n4"):
            done = sweep("check", "--nodes", "n[1-5]", "--host-timeout", "8", "--format", "json")
            for pid in work(fleet):
                os.kill(pid, signal.SIGKILL)  # its shell never came to what we asked
    finally:
        fleet.run("n3", "ip", "link", "set", "eth0", "up")
        fleet.serve_again("n2")
    told = report(done)
    silent = [f for f in told["findings"] if f["name"] == "host-unanswered"]
    why = {finding["hosts"]: finding["title"] for finding in silent}
    assert "Connection refused" in why["n2"]
    assert "No route to host" in why["n3"] or "timed out" in why["n3"]
    assert "it did not answer within 8 s" in why["n4"]
    assert {"n1", "n5"} <= {item["source"] for item in told["inputs"]}
    assert found(told, "launcher-ssh-unreachable")
    assert b"2 of 5 hosts answered" in done.stderr
    assert until(lambda: not work(fleet))


@pytest.mark.parametrize("number", [signal.SIGTERM, *(pytest.param(n, marks=pytest.mark.long) for n in NUMBERS)])
def test_nothing_is_left_when_it_is_stopped(
    fleet: Hosts, program: list[str], tmp_path: Path, number: signal.Signals
) -> None:
    with fleet.stuck("dmesg", "n1", "n2", "n3"):
        line = [*program, "check", "--nodes", "n[1-3]", "--via", "ssh", "--ssh-options", fleet.ssh]
        with subprocess.Popen(
            [*fleet.head, *line], cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as running:  # fmt: skip
            assert until(lambda: {name_of(pid) for pid in work(fleet)} >= {"sleep"})
            (sweeping,) = [pid for pid in fleet.pids("head") if is_sweep(pid)]
            os.kill(sweeping, number)
            running.communicate()
        assert until(lambda: not work(fleet)), [name_of(pid) for pid in work(fleet)]
        assert until(lambda: not fleet.pids("head"))


def is_sweep(pid: int) -> bool:
    words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    return b"--nodes" in words and b"sh" not in words[:1] and name_of(pid) not in {"ip", "unshare", "sh"}


def test_the_dead_and_the_odd_of_many_hosts_are_named(fleet: Hosts, sweep: Sweep) -> None:
    """One without an sshd, one with another MTU, one that may lock 64 KiB, and a name that nobody knows."""
    others = len(fleet.names) - 2
    for pid in fleet.pids("n2"):
        os.kill(pid, signal.SIGKILL)
    small, normal = ["link set eth0 mtu 1400"], ["link set eth0 mtu 1500"]
    try:
        with fleet.changed("n4", to=small, back=normal), fleet.served("n5", first="ulimit -l 64"):
            nodes = f"{all_of(fleet)},nowhere"
            told = report(sweep("check", "--nodes", nodes, "--format", "json", "--no-nccl"))
            screen = sweep("check", "--nodes", nodes, "--no-nccl").stdout.decode()
    finally:
        fleet.serve_again("n2")
    odd = found(told, "host-differs-from-others")
    assert (odd["hosts"], odd["severity"]) == ("n5", "warning")
    assert odd["title"].startswith("limit memlock is 64 KiB on n5, ")
    assert odd["title"].endswith(f" on {others} other hosts")
    assert odd["evidence"][0]["source"] == "n5"
    mtu = found(told, "socket-mtu-mismatch")
    assert "1400 (n4)" in mtu["title"]
    assert "n4:/sys/class/net/eth0/mtu" in {item["source"] for item in mtu["evidence"]}
    assert "limit memlock" not in {one["not_seen"]["hosts"] and one["what"] for one in told["comparison"]}
    assert found(told, "host-name-unresolved")["hosts"] == "nowhere"
    assert found(told, "launcher-ssh-unreachable")["hosts"] == "n2"
    assert "No answer: n2: ssh: connect to host" in screen
    assert "No answer: nowhere: ssh: Could not resolve hostname" in screen
    assert f"{others + 1} hosts compared" in screen
    assert "WARN  limit memlock is 64 KiB on n5, " in screen


def test_on_a_terminal_the_answers_are_counted(fleet: Hosts, program: list[str]) -> None:
    shown, end = pty.openpty()
    line = [
        *fleet.head,
        *program,
        "check",
        "--nodes",
        "n[1-3]",
        "--via",
        "ssh",
        "--ssh-options",
        fleet.ssh,
        "--no-nccl",
    ]
    with subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=end) as running:
        os.close(end)
        text = seen_on(shown, b"3 of 3 hosts answered")
        running.communicate()
    assert b"3/3 hosts have answered" in text
