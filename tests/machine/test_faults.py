"""What can go wrong while a host is looked at: tools that hang, files that vanish, values that are nonsense."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ncdiag.machine import live, sysfs
from ncdiag.machine.command import Asked, FileReader, collectors, table
from ncdiag.machine.live import collect
from ncdiag.machine.tree import Tree


def program(folder: Path, name: str, script: str, mode: int = 0o755) -> None:
    path = folder / name
    path.write_text(script if script.startswith(("#!", "\0")) else f"#!/bin/sh\n{script}\n")
    path.chmod(mode)


def test_every_tool_of_the_table_hanging(
    tmp_path: Path, ncdiag: Callable[..., subprocess.CompletedProcess[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = collect.__kwdefaults__ or {}
    assert usual["deadline"] == live.DEADLINE
    monkeypatch.setitem(usual, "deadline", 4.0)
    for command in table():
        program(tmp_path, command.argv[0], "trap '' TERM INT; while :; do sleep 1; done")
    (tmp_path / "sh").unlink()  # our fake programs need it
    done = ncdiag("check", "-v", "--no-nccl", env={"PATH": f"{tmp_path}:{os.environ['PATH']}"})
    assert done.returncode in {0, 1}
    assert b"no answer within" in b" ".join(done.stdout.split())
    assert b"Traceback" not in done.stderr


def test_the_limits_of_the_table_leave_time_to_judge() -> None:
    assert live.DEADLINE + 2 < 20
    assert all(0 < command.limit <= live.DEADLINE for command in table())


def test_the_table_declares_each_collector_once(ncdiag: Callable[..., subprocess.CompletedProcess[bytes]]) -> None:
    entries = collectors()
    looks: tuple[FileReader | Asked, ...] = (*entries.reader, *entries.asked)
    whats = [entry.what for entry in looks]
    names = [command.name for command in entries.command]
    assert len(set(whats)) == len(whats)
    assert len(set(names)) == len(names)
    done = ncdiag("check", "--list")
    assert done.returncode == 0
    shown = done.stdout.decode()
    for entry in looks:
        assert f"\n{entry.what} " in shown
        assert f"    {entry.why}\n" in shown
    for command in entries.command:
        assert command.line in shown
    [dmesg] = [line for line in shown.splitlines() if line.endswith("dmesg --time-format iso")]
    assert dmesg.split()[-6:-3] == ["root", "10", "s"]


class Vanishing(Tree):
    """Every folder lists an entry that is gone when it is looked at."""

    def names(self, path: str) -> list[str] | None:
        found = super().names(path)
        return None if found is None else [*found, "7", "ghost0", "0000:ff:1f.7"]


class Refusing(Tree):
    """Every file is there, and none can be read."""

    def data(self, path: str) -> bytes | None:
        if self.exists(path):
            self.refused[path] = "Permission denied"
        return None


@pytest.mark.parametrize("kind", [Vanishing, Refusing])
@pytest.mark.parametrize("root", ["/", "roce8"])
def test_files_that_vanish_or_refuse(kind: type[Tree], root: str, project: Path) -> None:
    place = Path("/") if root == "/" else project / "fixtures" / "roots" / root
    tree = kind(place, "n1")
    for what, read in sysfs.readers().items():
        for observation in read(tree):
            assert observation.host == "n1", what
    seen = collect(tree=kind(place, "n1"), environ={})
    broken = [item for item in seen.not_seen if re.match(r"\w+Error: ", item.why)]
    assert broken == [], "a reader raised instead of leaving its fact unknown"
    if kind is Refusing and root != "/":
        assert "/proc/self/limits: Permission denied" in " ".join(item.why for item in seen.not_seen)


def test_every_value_of_a_tree_may_be_nonsense(project: Path, tmp_path: Path) -> None:
    root = tmp_path / "root"
    shutil.copytree(project / "fixtures" / "roots" / "roce8", root, symlinks=True)
    for path in root.rglob("*"):
        if path.is_file() and not path.is_symlink():
            path.chmod(0o644)
            path.write_bytes(b"\xff\xfe -99999999999999999999 \0 :::: \n" * 3)
    seen = collect(root)
    assert [item for item in seen.not_seen if re.search(r"\w{2}Error:", item.why)] == []


def test_the_environment_of_another_process(ncdiag: Callable[..., subprocess.CompletedProcess[bytes]]) -> None:
    environment = {**os.environ, "NCCL_SOCKET_IFNAME": "eth77", "NCCL_MY_TOKEN": "hunter2"}
    code = (
        "import resource, time; resource.setrlimit(resource.RLIMIT_NOFILE, (77, 77))\n"
        "print(flush=True); time.sleep(600)"
    )
    with subprocess.Popen([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE) as child:
        try:
            assert child.stdout is not None
            child.stdout.readline()
            seen = collect(pid=child.pid)
        finally:
            child.kill()
    facts = {(o.entity, *o.key): o.fields for o in seen.observations}
    assert facts["Setting", "NCCL_SOCKET_IFNAME"]["text"] == "eth77"
    assert facts["Limit", "nofile"]["soft"] == 77
    assert "hunter2" not in repr(seen)
    done = ncdiag("check", "--pid", str(child.pid))
    assert done.returncode == 2
    assert b"no process has this number" in done.stderr


def test_a_zombie_is_called_one(ncdiag: Callable[..., subprocess.CompletedProcess[bytes]]) -> None:
    pid = os.posix_spawn("/bin/sh", ["sh", "-c", "exit 0"], {})
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    done = ncdiag("check", "--no-nccl", "--pid", str(pid))
    os.waitpid(pid, 0)
    said = f"it has ended and is a zombie, which process {os.getpid()}, its parent, has not collected"
    assert done.returncode == 2
    assert done.stderr.decode() == f"ncdiag: cannot read the environment of process {pid}: {said}\n"
