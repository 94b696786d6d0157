"""The shell script sees on a host without ncdiag what ``check`` sees there, with any POSIX shell."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from bare_node import SECRET, SECRETS, Need, check_settings, differing, facts_of

from ncdiag.machine import host as machine

SHELLS = {"dash": ["dash"], "bash": ["bash", "--posix"], "busybox": ["busybox", "sh"]}


@pytest.mark.parametrize("shell", SHELLS)
def test_with_every_shell(shell: str, script_text: str, tmp_path: Path, need: Need) -> None:
    need(shell, shutil.which(SHELLS[shell][0]), "no such shell here")
    environ = {**os.environ, **SECRETS, "NCCL_SOCKET_IFNAME": "^docker", "HOME": str(tmp_path), "TMPDIR": str(tmp_path)}
    before = facts_of(machine.look(ask_library=False))
    done = subprocess.run(
        [*SHELLS[shell], "-s"], input=script_text.encode(), capture_output=True, check=False, env=environ
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert SECRET.encode() not in done.stdout
    assert list(tmp_path.iterdir()) == [], "it cleans up behind itself"
    (tmp_path / "x.txt").write_bytes(done.stdout)
    told = facts_of(machine.unpack(tmp_path / "x.txt"))
    check_settings(told.pop("settings"))
    looks = [before, facts_of(machine.look(ask_library=False))]
    for facts in (told, *looks):
        for name in ("settings", "clock_synchronized"):  # no file and no usual program tells the latter
            facts.pop(name, None)
    assert differing(told, looks) == {}


def test_with_nothing_but_busybox(script_text: str, tmp_path: Path, need: Need) -> None:
    need("busybox", shutil.which("busybox"), "no busybox here")
    (tmp_path / "bin").mkdir()
    subprocess.run(["busybox", "--install", "-s", str(tmp_path / "bin")], check=True)
    (tmp_path / "look.sh").write_text(script_text)
    before = facts_of(machine.look(ask_library=False))
    environ = {"PATH": str(tmp_path / "bin"), "NCCL_DEBUG": "INFO", "NCCL_TOKEN": SECRET, "NCCL_IB_PKEY": "0x8001"}
    done = subprocess.run([tmp_path / "bin/sh", "look.sh"], capture_output=True, check=False, env=environ, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    assert SECRET.encode() not in done.stdout
    (tmp_path / "x.txt").write_bytes(done.stdout)
    told = facts_of(machine.unpack(tmp_path / "x.txt"))
    assert told["settings"] == [("NCCL_DEBUG", "INFO"), ("NCCL_IB_PKEY", "0x8001")]
    looks = [before, facts_of(machine.look(ask_library=False))]
    assert not differing(told, looks).keys() & {"interfaces", "routes", "pci", "sysctls", "kernel_command_line"}


@pytest.mark.usefixtures("hanging")
@pytest.mark.parametrize("with_timeout", [True, False])
def test_the_script_with_all_programs_hanging(with_timeout: bool, script_text: str, tmp_path: Path) -> None:
    text = re.sub(r"^(start \S+) [\d.]+", r"\1 1", script_text.replace("then start", "then\nstart"), flags=re.MULTILINE)
    text = text if with_timeout else text.replace("command -v timeout", "command -v no-such-program")
    done = subprocess.run(["sh", "-s"], input=text.encode(), capture_output=True, check=False)
    assert done.returncode == 0
    (tmp_path / "x.txt").write_bytes(done.stdout)
    assert any("no answer in time" in phrase for phrase in machine.unpack(tmp_path / "x.txt").not_seen())
