"""Reading and judging work where there is no Linux: what macOS and Windows lack is taken away, and nothing changes."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from ncdiag.parsers._template import __file__ as template

PACKAGE = Path(template).parents[1]
NODE_ALONE = {"machine", "agent"}
"""The parts that look at a node; what else is imported has to exist everywhere."""

MODULES = (
    "fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "syslog", "spwd", "crypt", "readline", "curses",
    "posix",
)  # fmt: skip
LACKING = {
    "os": (
        "getuid", "geteuid", "getgid", "getegid", "getpgid", "setsid", "killpg", "fork", "waitid", "statvfs",
        "sched_getaffinity", "mkfifo", "getloadavg", "O_NONBLOCK", "O_CLOEXEC", "O_TMPFILE",
    ),
    "signal": ("SIGKILL", "SIGHUP", "SIGALRM", "SIGPIPE", "SIGUSR1", "alarm", "setitimer"),
    "socket": ("AF_UNIX", "AF_NETLINK", "AF_PACKET"),
}  # fmt: skip
RUN = """
import concurrent.futures, ctypes, importlib, multiprocessing, os, subprocess, sys, tempfile
for name, attributes in {lacking!r}.items():
    module = importlib.import_module(name)
    for attribute in attributes:
        if hasattr(module, attribute):
            delattr(module, attribute)
    sys.platform = "darwin"
for name in {modules!r}:
    sys.modules[name] = None
from ncdiag.cli import main
for argv in {commands!r}:
    code = main(argv)
    sys.stdout.flush()
    os.write(1, b"\\0%d\\0" % code)
"""

LOG = "fixtures/cases/veth/nccl.log"
COMMANDS = {
    "parse": ["parse", LOG],
    "parse as JSON": ["parse", LOG, "--format", "json"],
    "triage": ["triage", LOG, "fixtures/sections/ibstat", "fixtures/sections/interfaces"],
    "facts": ["facts", LOG],
    "explain": ["explain", "socket-virtual-ifname", LOG],
    "predict": ["predict", LOG, "--nccl", "2.27.7"],
    "rules list": ["rules", "list"],
    "rules show": ["rules", "show", "socket-virtual-ifname"],
    "rules test": ["rules", "test", "socket-virtual-ifname"],
    "rules of a pack": ["rules", "list", "--rules", "PACK"],
    "lint": ["lint", "fixtures/sections/slurm_script"],
    "check a bundle": ["check", "--from", "BUNDLE"],
    "triage a bundle": ["triage", "BUNDLE", LOG],
    "check a recorded tree": ["check", "--root", "fixtures/roots/roce8"],
    "help": ["--help"],
}


def without_linux(project: Path, commands: Iterable[list[str]]) -> list[tuple[bytes, bytes]]:
    """What each command printed, and its exit code, all of them in one process."""
    code = RUN.format(modules=MODULES, lacking=LACKING, commands=list(commands))
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=False, cwd=project,
        env={**os.environ, "COLUMNS": "100"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    parts = done.stdout.split(b"\0")
    return list(zip(parts[::2], parts[1::2], strict=False))


def test_the_answers_are_the_same_without_linux(
    project: Path, tmp_path: Path, ncdiag: Callable[..., subprocess.CompletedProcess[bytes]]
) -> None:
    """The process without Linux compiles a new pack into the cache, and this one reads it."""
    bundle, pack = tmp_path / "this-host.tar.gz", tmp_path / "pack"
    assert ncdiag("collect", "-q", "--no-nccl", "-o", bundle).returncode == 0
    assert ncdiag("rules", "new", "our-net", "--in", pack).returncode == 0
    places = {"BUNDLE": str(bundle), "PACK": str(pack)}
    commands = {name: [places.get(word, word) for word in words] for name, words in COMMANDS.items()}
    found = dict(zip(commands, without_linux(project, commands.values()), strict=True))
    for name, words in commands.items():
        here = ncdiag(*words, cwd=project, env={"COLUMNS": "100"})
        assert here.stdout, name
        assert here.returncode in {0, 1}, name
        assert found[name] == (here.stdout, b"%d" % here.returncode), name


def test_only_what_looks_at_a_node_imports_modules_of_linux() -> None:
    paths = [path for path in PACKAGE.rglob("*.py") if path.relative_to(PACKAGE).parts[0] not in NODE_ALONE]
    assert len(paths) > 100
    assert [path for path in paths if imported(path.read_text(encoding="utf-8")) & set(MODULES)] == []


def imported(code: str) -> set[str]:
    """The modules that it imports, wherever in it."""
    found: set[str] = set()
    if not any(name in code for name in MODULES):
        return found
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".", maxsplit=1)[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add((node.module or "").split(".", maxsplit=1)[0])
    return found
