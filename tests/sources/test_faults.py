"""What can go wrong while a host is looked at, one row each: the reason told, what is kept, and how long it takes."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

from ncdiag.sources import live, sysfs
from ncdiag.sources.command import Command, collectors, table
from ncdiag.sources.live import collect
from ncdiag.sources.tree import Tree

LSMOD = "Module                  Size  Used by\\nnvidia_peermem         16384  0"
SHORT = 0.6

TOOLS = {  # name: script, mode, reason, kind of the section, its last line, seconds at most
    "missing": (None, 0o755, "not installed", None, None, 1),
    "not-executable": ("echo x", 0o644, "may not be executed", None, None, 1),
    "no-interpreter": ("#!/no/such/shell", 0o755, "No such file", None, None, 1),
    "no-program": ("\0\1\2", 0o755, "Exec format error", None, None, 1),
    "permission": ("echo 'open: Permission denied' >&2; exit 13", 0o755, "exit status 13: open", None, None, 1),
    "hanging": ("sleep 60", 0o755, "no answer within 0.6 s", None, None, 2),
    "ignores-term": ("trap '' TERM INT HUP; while :; do sleep 1; done", 0o755, "no answer within", None, None, 2),
    "child-stays": (f"printf '{LSMOD}\\n'; sleep 60 & exit 0", 0o755, None, "lsmod", "nvidia_peermem", 2),
    "daemon-stays": ("setsid sleep 3 & exit 0", 0o755, None, None, None, 2),
    "prints-for-ever": ("yes nonsense", 0o755, "printed more than|no answer", "lsmod", "nonse", 6),
    "good-but-failing": (f"printf '{LSMOD}\\n'; exit 3", 0o755, "exit status 3", "lsmod", "nvidia_peermem", 1),
    "failing-with-a-message": ("echo 'cannot open'; exit 9", 0o755, "exit status 9", "text", "cannot open", 1),
    "nothing-at-all": ("exit 0", 0o755, None, None, None, 1),
    "dies-by-signal": ("kill -SEGV $$", 0o755, "ended by signal 11", None, None, 1),
    "cut-off": (f"printf '{LSMOD[:-6]}'", 0o755, None, "lsmod", "nvidia_peermem         16", 1),
    "not-utf-8": ("printf 'Module Size Used by\\n\\377\\376odd 1 0\\n'", 0o755, None, "lsmod", None, 1),
    "escapes": ("printf '\\033[2Jfine\\n'", 0o755, None, "lsmod", "fine", 1),
}  # fmt: skip


def program(folder: Path, name: str, script: str, mode: int = 0o755) -> None:
    path = folder / name
    path.write_text(script if script.startswith(("#!", "\0")) else f"#!/bin/sh\n{script}\n")
    path.chmod(mode)


def with_mark(mark: str) -> list[str]:
    """Processes that were started with this value in their environment; those being killed get a moment to go."""
    deadline = time.monotonic() + 30
    while (found := _with_mark(mark)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return found


def _with_mark(mark: str) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if mark.encode() in path.read_bytes():
                found.append(path.parent.name)
    return found


@pytest.mark.parametrize("name", TOOLS)
def test_a_tool_with_a_fault(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script, mode, reason, kind, last, limit = TOOLS[name]
    tool = f"ncdiag-test-{name}"
    if script is not None:
        program(tmp_path, tool, script, mode)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    mark = uuid.uuid4().hex
    monkeypatch.setenv("NCDIAG_TEST_MARK", mark)
    gathering = live._Gathering(Tree(Path("/"), "n1"), {"lsmod", "text"}, time.monotonic() + 10)
    start = time.monotonic()
    gathering.run([Command(name="tool", argv=(tool,), kind="lsmod", why="what it tells", limit=SHORT)])
    assert time.monotonic() - start < limit
    assert name == "daemon-stays" or not with_mark(mark), "a program or a child of it outlived its time"
    told = gathering.reasons.get("what it tells", [])
    if reason is None:
        assert told == []
    else:
        assert any(part in told[0] for part in reason.split("|"))
    assert [section.kind for section in gathering.sections] == ([kind] if kind else [])
    if last is not None:
        assert gathering.sections[0].lines[-1].startswith(last)


def test_what_every_tool_of_the_table_hanging_costs(
    tmp_path: Path, ncdiag: Callable[..., subprocess.CompletedProcess[bytes]]
) -> None:
    for command in table():
        program(tmp_path, command.argv[0], "trap '' TERM INT; while :; do sleep 1; done")
    (tmp_path / "sh").unlink()  # our fake programs need it
    start = time.monotonic()
    done = ncdiag("check", "--no-nccl", env={"PATH": f"{tmp_path}:{os.environ['PATH']}"})
    assert time.monotonic() - start < 20
    assert done.returncode in {0, 1}
    assert b"no answer within" in b" ".join(done.stdout.split())
    assert b"Traceback" not in done.stderr


def test_the_limits_of_the_table_leave_time_to_judge() -> None:
    assert live.DEADLINE + 2 < 20
    assert all(0 < command.limit <= live.DEADLINE for command in table())


def test_the_table_declares_each_collector_once(ncdiag: Callable[..., subprocess.CompletedProcess[bytes]]) -> None:
    entries = collectors()
    whats = [entry.what for entry in (*entries.reader, *entries.asked)]
    names = [command.name for command in entries.command]
    assert len(set(whats)) == len(whats)
    assert len(set(names)) == len(names)
    done = ncdiag("check", "--list")
    assert done.returncode == 0
    shown = done.stdout.decode()
    for entry in (*entries.reader, *entries.asked):
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
    broken = [item for item in seen.not_seen if "Error:" in item.why]
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
    assert [item for item in seen.not_seen if "Error:" in item.why] == []


@pytest.mark.parametrize(
    ("wrapper", "codes"),
    [
        pytest.param(("env", "-i"), {0, 1}, id="empty environment"),
        pytest.param(("env", "-u", "HOME"), {0, 1}, id="no HOME"),
        pytest.param(("env", "HOME=/nonexistent", "XDG_CACHE_HOME=/proc/none"), {0, 1}, id="no cache"),
        pytest.param(("sh", "-c", 'exec "$@" <&-', "sh"), {0, 1}, id="closed stdin"),
        pytest.param(("sh", "-c", 'exec "$@" 2>&-', "sh"), {0, 1}, id="closed stderr"),
        pytest.param(("sh", "-c", 'exec "$@" >&-', "sh"), {4}, id="closed stdout"),
        pytest.param(("sh", "-c", 'exec "$@" >/dev/full', "sh"), {4}, id="full disk"),
        pytest.param(("env", "TERM=dumb", "COLUMNS=1"), {0, 1}, id="one column"),
        pytest.param(("env", "LC_ALL=de_DE.UTF-8", "LANG=ja_JP.eucJP"), {0, 1}, id="locale"),
        pytest.param(("unshare", "-m", "sh", "-c", 'mount -t tmpfs n /proc; exec "$@"', "sh"), {0, 1}, id="no proc"),
        pytest.param(("unshare", "-m", "sh", "-c", 'mount -t tmpfs n /sys; exec "$@"', "sh"), {0, 1}, id="no sys"),
    ],
)
def test_odd_surroundings(
    wrapper: tuple[str, ...], codes: set[int], program: list[str], need: Callable[[str, object, str], None]
) -> None:
    if wrapper[0] == "unshare":
        able = os.geteuid() == 0 and subprocess.run(["unshare", "-m", "true"], check=False).returncode == 0
        need("root", able, "a mount namespace takes root")
    start = time.monotonic()
    done = subprocess.run([*wrapper, *program, "check", "--no-nccl"], capture_output=True, check=False, timeout=60)
    assert time.monotonic() - start < 20
    assert done.returncode in codes, done.stderr
    assert b"Traceback" not in done.stderr
    if 4 in codes:
        assert done.stderr.startswith(b"ncdiag: cannot write the output")
        assert done.stderr.count(b"\n") == 1
    else:
        assert b"Not looked at:" in b" ".join(done.stdout.split())


def test_a_plain_check_is_quick(ncdiag: Callable[..., subprocess.CompletedProcess[bytes]]) -> None:
    taken = []
    for _ in range(4):  # the first fills caches; other tests run beside this one
        start = time.monotonic()
        assert ncdiag("check", "--no-nccl").returncode in {0, 1}
        taken.append(time.monotonic() - start)
        if taken[-1] < 2:
            return
    pytest.fail(f"took {taken} s")


def test_the_environment_of_another_process(ncdiag: Callable[..., subprocess.CompletedProcess[bytes]]) -> None:
    environment = {**os.environ, "NCCL_SOCKET_IFNAME": "eth77", "NCCL_MY_TOKEN": "hunter2"}
    code = (
        "import resource, time; resource.setrlimit(resource.RLIMIT_NOFILE, (77, 77)); print(flush=True); time.sleep(60)"
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
    assert b"there is no such process" in done.stderr
