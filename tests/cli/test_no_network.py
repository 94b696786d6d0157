"""Nothing is sent anywhere: the commands run under guards that see every connection, and each packet without one."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Need = Callable[[str, object, str], None]
LOG = "fixtures/cases/veth/nccl.log"
COMMANDS = (
    ["parse", LOG], ["parse", "--each", LOG, "--format", "json"], ["triage", LOG],
    ["explain", "NCCL_IB_GID_INDEX"], ["explain", "logging"], ["explain", "--lines", LOG],
    ["facts", LOG], ["predict", LOG], ["topo"], ["lint", "fixtures/lint/slurm"],
    ["diff", "fixtures/cases/roce-gid-3-old", "fixtures/cases/roce-gid-3-new"], ["redact", LOG], ["rules", "list"],
    ["rules", "show", "NCD101"], ["schema"], ["completion", "bash"], ["--version"],
    ["check", "--root", "fixtures/roots/roce8"], ["check", "--no-nccl"], ["demo"],
    ["collect", "--no-nccl", "-o", "BUNDLE"], ["check", "--from", "BUNDLE"], ["mcp"],
)  # fmt: skip
RUN = """
import json, sys
seen = []
def hook(event, arguments):
    if event.startswith("socket.") and event not in ("socket.__new__", "socket.gethostname"):
        seen.append([event, repr(arguments[-1])])
sys.addaudithook(hook)
from ncdiag.cli import main
codes = [main(command) for command in json.loads(sys.argv[1])]
open(sys.argv[2], "w").write(json.dumps({"codes": codes, "seen": seen}))
"""
LEAVES = re.compile(r"\b(?:connect|sendto|sendmsg|sendmmsg)\(.*sa_family=AF_INET")
"""A call by which something can leave the host; what the kernel is asked (AF_NETLINK) and local sockets stay here."""


def commands(bundle: Path) -> str:
    return json.dumps([[str(bundle) if word == "BUNDLE" else word for word in command] for command in COMMANDS])


def traced(command: list[str], project: Path, record: Path) -> list[str]:
    """The calls of a program and of all that it starts by which something leaves the host."""
    kinds = "trace=connect,sendto,sendmsg,sendmmsg"
    strace = ["strace", "-f", "--seccomp-bpf", "-qq", "-e", kinds, "-e", "signal=none", "-o", str(record)]
    done = subprocess.run([*strace, *command], cwd=project, capture_output=True, check=False, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stderr
    return [line for line in record.read_text().splitlines() if LEAVES.search(line)]


def test_no_command_sends_anything(project: Path, tmp_path: Path, need: Need) -> None:
    """Python's own calls are seen by an audit hook, those of libraries and other programs by strace."""
    seen = tmp_path / "seen.json"
    command = [sys.executable, "-c", RUN, commands(tmp_path / "this.tar.gz"), str(seen)]
    if shutil.which("strace"):
        assert traced(command, project, tmp_path / "strace.txt") == []
    else:
        subprocess.run(command, cwd=project, capture_output=True, check=True, stdin=subprocess.DEVNULL)
    found = json.loads(seen.read_text())
    local = {"socket.getaddrinfo", "socket.gethostbyname"}
    assert [event for event in found["seen"] if event[0] not in local] == []
    assert dict(zip(map(" ".join, COMMANDS), found["codes"], strict=True)).items() >= {
        (f"parse {LOG}", 1), ("schema", 0), ("mcp", 0), ("explain logging", 0),
    }  # fmt: skip
    assert set(found["codes"]) <= {0, 1, 3}
    need("strace", shutil.which("strace"), "what libraries and other programs send was not seen")


@pytest.mark.parametrize("kind", ["tcp", "udp"])
def test_the_guard_sees_what_is_sent(kind: str, project: Path, tmp_path: Path, need: Need) -> None:
    need("strace", shutil.which("strace"), "strace is not installed")
    tcp = "socket.socket().connect_ex(('127.0.0.1', 9))"
    udp = "socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 9))"
    code = f"import socket; {tcp if kind == 'tcp' else udp}"
    assert len(traced([sys.executable, "-c", code], project, tmp_path / "strace.txt")) == 1
