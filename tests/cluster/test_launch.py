"""`ncdiag probe --launch` over real ssh between real network stacks: each fault of a launch is named."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hosts import Hosts
from processes import until

pytestmark = [pytest.mark.root, pytest.mark.xdist_group("fleet")]
Done = subprocess.CompletedProcess[bytes]
Launch = Callable[..., Done]
PORT = 29511


@pytest.fixture
def launch(fleet: Hosts, program: list[str], tmp_path: Path) -> Iterator[Launch]:
    """``launch("mpirun ...")`` asks for what a launch needs, on the head unless told otherwise; names are known."""
    (tmp_path / "train.py").write_text("print('trained')\n")

    def run(line: str, *words: str | Path, on: str = "head") -> Done:
        command = [*fleet.inside(on), *program, "probe", "--launch", line, "--seconds", "20", *map(str, words)]
        return subprocess.run(
            command, capture_output=True, check=False, stdin=subprocess.DEVNULL, cwd=tmp_path,
            env={name: text for name, text in os.environ.items() if not name.startswith(("MASTER_", "SLURM_"))},
        )  # fmt: skip

    with fleet.named():
        yield run


def mpirun(fleet: Hosts, hosts: str, ssh: str = "") -> str:
    options = f"-F {fleet.folder}/ssh_config {ssh}".strip()
    return (
        f"mpirun -H {hosts} --mca plm_rsh_args '{options}' -x MASTER_ADDR=n1 -x MASTER_PORT={PORT} "
        f"{sys.executable} train.py"
    )


def report(done: Done) -> Any:  # noqa: ANN401
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


def steps(told: Any) -> dict[str, str]:  # noqa: ANN401
    return {look["what"]: look["status"] for look in told["looks"]}


def findings(told: Any) -> dict[str, Any]:  # noqa: ANN401
    return {f["name"]: f for f in told["findings"] if f["name"].startswith(("launcher-", "probe-", "host-"))}


def test_a_launch_that_is_fine(fleet: Hosts, launch: Launch, ncdiag: Launch, tmp_path: Path) -> None:
    saved = tmp_path / "saved.txt"
    done = launch(mpirun(fleet, "n1:1,n2:1,n3:1"), "--save", saved, "--format", "json")
    told = report(done)
    assert (done.returncode, findings(told)) == (0, {})
    passed = {what for what, status in steps(told).items() if status == "PASS"}
    assert passed >= {
        "hosts", "names", "ssh without a password", "user and Python", "program and folder", "connections",
        "rendezvous port", "path to that port",
    }  # fmt: skip
    assert set(steps(told).values()) <= {"PASS", "SKIP"}
    again = ncdiag("triage", saved, "--format", "json")
    assert [item["kind"] for item in report(again)["inputs"][0]["sections"]] == ["launch", "probe"]
    assert findings(report(again)) == {}


def test_the_first_host_needs_no_ssh_to_itself(fleet: Hosts, launch: Launch) -> None:
    """mpirun starts processes on its own host without ssh, and so does the probe."""
    with fleet.served("n1", "-o", "AuthorizedKeysFile=none"):
        done = launch(mpirun(fleet, "n1:1,n2:1"), "--no-color", on="n1")
    text = " ".join(done.stdout.decode().split())
    assert "probe of 2 hosts: 2 took part" in done.stderr.decode()
    assert "PASS ssh without a password: n2 from n1" in text


def test_a_host_without_the_key(fleet: Hosts, launch: Launch) -> None:
    with fleet.served("n2", "-o", "AuthorizedKeysFile=none"):
        done = launch(mpirun(fleet, "n1:1,n2:1"), "--format", "json")
    told = report(done)
    assert (done.returncode, told["summary"]["root_cause"]) == (1, "launcher-login-fails")
    cause = told["findings"][0]
    assert "does not log in to n2: " in cause["title"]
    assert "Permission denied" in cause["title"]
    assert cause["fixes"][0]["commands"] == {"shell": "ssh-copy-id n2"}
    assert steps(told)["ssh without a password"] == "FAIL"
    assert steps(told)["hosts"] == "WARN"


@contextlib.contextmanager
def listening(fleet: Hosts, host: str, port: int) -> Iterator[None]:
    """A program listens on a port of a host."""
    code = f"import socket,time; s=socket.create_server(('', {port})); time.sleep(600)"
    with subprocess.Popen([*fleet.inside(host), sys.executable, "-c", code]) as process:
        try:
            assert until(lambda: f":{port} ".encode() in fleet.run(host, "ss", "-Hltn").stdout)
            yield
        finally:
            process.kill()


def test_a_name_a_port_and_a_path(fleet: Hosts, launch: Launch, tmp_path: Path) -> None:
    hidden = fleet.served("n3", first=f"mount -t tmpfs none {tmp_path}")
    with fleet.named(n3={"n2": fleet.address("n1")}), listening(fleet, "n1", PORT), hidden:
        told = report(launch(mpirun(fleet, "n1:1,n2:1,n3:1"), "--format", "json"))
    found = findings(told)
    assert found.keys() == {"probe-names-differ", "launcher-meeting-port-taken", "launcher-path-missing"}
    assert f"n2 is {fleet.address('n1')} there" in found["probe-names-differ"]["title"]
    assert f"Port {PORT} of n1" in found["launcher-meeting-port-taken"]["title"]
    assert f"on n3: {tmp_path}/train.py: no such file" in found["launcher-path-missing"]["title"]
    wrong = {what: status for what, status in steps(told).items() if status not in {"PASS", "SKIP"}}
    assert wrong == {"names": "WARN", "rendezvous port": "FAIL", "program and folder": "FAIL"}


@pytest.mark.long
def test_a_closed_port_of_ssh_and_too_many_slots(fleet: Hosts, launch: Launch) -> None:
    """The other hosts have an sshd on that port; two of them have as many GPUs as a host of the same driver shows."""
    gpus = "mount -t tmpfs none /proc/driver && mkdir -p /proc/driver/nvidia/gpus/000{}:01:00.0"
    two = " && ".join([gpus.format(0), "mkdir /proc/driver/nvidia/gpus/0000:02:00.0"])
    ports = ("-o", "Port=2222")
    line = mpirun(fleet, "n1:2,n2:2,n3:4", "-p 2222")
    with (
        fleet.served("n1", *ports, first=two), fleet.served("n2", *ports, first=two), fleet.served("n3", first=two),
    ):  # fmt: skip
        told = report(launch(line, "--ssh-options", fleet.ssh, "--format", "json"))
    found = findings(told)
    assert found.keys() == {"launcher-login-fails", "launcher-slots-exceed-gpus"}
    login, slots = found["launcher-login-fails"], found["launcher-slots-exceed-gpus"]
    assert "log in to n3: ssh: connect to host" in login["title"]
    assert "port 2222: Connection refused" in login["title"]
    assert "ssh -v -p 2222 n3 true" in login["fixes"][0]["commands"]["shell"]
    assert "4 for 2 GPUs on n3" in slots["title"]
    assert "-H n1:2,n2:2,n3:2" in slots["fixes"][0]["text"]
