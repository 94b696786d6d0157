"""Starting is cheap: what a run does not need is neither imported nor compiled, and a copy keeps what it compiled."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from generate import large

from ncdiag import catalogue
from ncdiag.base import compiled, toml
from ncdiag.formats.secrets import signed
from ncdiag.parsers import _complaints
from ncdiag.parsers.user_text import context, forms, trials

pytestmark = pytest.mark.xdist_group("start")  # copies of the package, made once
RUN = """
import re, sys
patterns, usual = [], re.compile
def counted(pattern, flags=0):
    patterns.append(pattern)
    return usual(pattern, flags)
re.compile = counted
from ncdiag.cli import main
code = main(sys.argv[1:])
sys.stderr.write(repr((code, set(sys.modules), patterns)))
"""


CYCLES = """
import gc, sys
gc.disable()
from ncdiag.cli import main
main(sys.argv[1:])
sys.stderr.write(str(gc.collect()))
"""


@pytest.fixture(scope="module")
def copy(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package and its rules elsewhere, with a cache of its own; modules that were compiled stay so."""
    folder = tmp_path_factory.mktemp("copy")
    for name in ("ncdiag", "rules"):
        shutil.copytree(project / name, folder / name)
    (folder / "pyproject.toml").touch()
    return folder


@pytest.fixture(scope="module")
def site(copy: Path, project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package as a wheel installs it: compiled, and without the sources that a wheel leaves out."""
    folder = tmp_path_factory.mktemp("site")
    shutil.copytree(copy / "ncdiag", folder / "ncdiag")
    shipped = str(folder / "ncdiag" / "_compiled")
    subprocess.run([sys.executable, "-m", "ncdiag.catalogue", "build", shipped], cwd=copy, check=True)
    build = toml.loads((project / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]
    left_out = [path for name in build["targets"]["wheel"]["exclude"] for path in folder.glob(name.lstrip("/"))]
    assert left_out
    for path in left_out:
        path.unlink()
    return folder


def python(folder: Path, code: str, *arguments: str | Path) -> str:
    """What the code writes to stderr, run with the package in this folder."""
    env = {**os.environ, "PYTHONPATH": str(folder), "XDG_CACHE_HOME": str(folder / "cache")}
    env.pop("COVERAGE_PROCESS_CONFIG", None)  # what counts lines imports modules of its own
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        cwd=folder,
        env=env,
        capture_output=True,
        check=True,
        text=True,
    )
    return done.stderr


def parse(site: Path, log: Path) -> tuple[int, set[str], list[str]]:
    """Exit code, modules and compiled patterns of a run of an installed ncdiag."""
    found: tuple[int, set[str], list[str]] = ast.literal_eval(python(site, RUN, "parse", log))
    return found


@pytest.fixture(scope="module")
def started(site: Path, project: Path) -> tuple[int, set[str], list[str]]:
    return parse(site, project / "fixtures" / "cases" / "veth" / "nccl.log")


def test_a_run_imports_nothing_that_only_definitions_need(started: tuple[int, set[str], list[str]]) -> None:
    code, modules, _ = started
    assert code == 1
    needless = {"tomllib", "tomli", "hashlib", "rich", "psutil", "netifaces", "pynvml", "json"}
    assert not modules & needless
    assert not modules & {
        "ncdiag.toml",
        "ncdiag.messages.form",
        "ncdiag.engine.load",
        "ncdiag.machine.live",
        "ncdiag.commands.check",
    }
    assert not modules & {"ncdiag.language.table", "ncdiag.engine.translation"}


def test_a_log_of_nccl_alone_imports_no_parser_of_other_outputs(
    started: tuple[int, set[str], list[str]], project: Path
) -> None:
    _, modules, patterns = started
    kinds = {path.stem for path in (project / "ncdiag" / "parsers").glob("*.py") if not path.stem.startswith("_")}
    assert not modules & {f"ncdiag.parsers.{kind}" for kind in kinds}
    assert not any("(?P<ibstat>" in str(pattern) for pattern in patterns)


def test_messages_are_compiled_only_where_a_line_may_be_one(started: tuple[int, set[str], list[str]]) -> None:
    """The patterns of a run do not grow with the catalogue, which has many more."""
    assert len(started[2]) < 400


def test_a_section_imports_its_own_parser_and_no_other(site: Path, tmp_path: Path) -> None:
    paste = tmp_path / "paste.txt"
    paste.write_text("$ ibstatus\nInfiniband device 'mlx5_7' port 1 status:\n\tstate:\t\t 4: ACTIVE\n")
    _, modules, _ = parse(site, paste)
    assert "ncdiag.parsers.ibstatus" in modules
    assert not modules & {f"ncdiag.parsers.{kind}" for kind in ("ibstat", "text", "env", "launch")}


def test_a_run_makes_no_cycles_of_what_it_reads(site: Path, tmp_path: Path) -> None:
    """The program runs without a search for cycles: its memory may not grow by what such a search would free."""
    unreachable = []
    for nodes in (2, 32):
        log = tmp_path / f"{nodes}.log"
        job = large.large("2.27.7", "roce", nodes, faults=("gid",))
        log.write_text("".join(f"{line}\n" for line in large.lines(job)))
        unreachable.append(int(python(site, CYCLES, "parse", log)))
    assert unreachable[1] < unreachable[0] + 200


NEW = """
from ncdiag.facts.observe import Parsed

KIND = "gadget"
COMMANDS = ("gadget-status",)
ANCHOR = r"Gadget \\d+:"


def continues(lines, line):
    return True


def parse(section):
    return Parsed()
"""
KINDS = "import sys; from ncdiag.parsers import discover; print(*discover(), file=sys.stderr)"


def test_a_new_parser_is_found_without_a_list(copy: Path) -> None:
    before = python(copy, KINDS).split()
    path = copy / "ncdiag" / "parsers" / "gadget.py"
    path.write_text(NEW)
    try:
        assert set(python(copy, KINDS).split()) == {*before, "gadget"}
    finally:
        path.unlink()
    assert python(copy, KINDS).split() == before


def asked_for(package: Path) -> set[str]:
    """The first arguments of all calls of ``compiled.load`` and ``hold`` that are plain words."""
    nodes = (node for path in package.rglob("*.py") for node in ast.walk(ast.parse(path.read_text())))
    reads = {"compiled.load", "compiled.hold"}
    calls = (node for node in nodes if isinstance(node, ast.Call) and ast.unparse(node.func) in reads)
    words = (call.args[0].value for call in calls if isinstance(call.args[0], ast.Constant))
    return {word for word in words if isinstance(word, str)}


def installed(site: Path, cache: Path, *arguments: str | Path) -> subprocess.CompletedProcess[bytes]:
    """What the installed package answers, far from the source tree."""
    env = {**os.environ, "PYTHONPATH": str(site), "XDG_CACHE_HOME": str(cache)}
    command = [sys.executable, "-m", "ncdiag", *map(str, arguments)]
    return subprocess.run(command, cwd=cache.parent, env=env, capture_output=True, check=False)


def test_a_wheel_carries_all_that_is_read_compiled(site: Path, tmp_path: Path) -> None:
    """With no source tree around it and nothing in the cache, a run reads what is shipped and keeps only programs.

    Programs of patterns, and the literals of some.
    """
    variable = {"rules", "rules-zh", "phrases-zh", trials.LEXER.name, context.LEXER.name, signed.NAME} | {
        forms.HINTS.name,
        forms.SUBJECTS.name,
        _complaints.HINTS.name,
    }
    shipped = {path.name.partition(".")[0] for path in (site / "ncdiag" / "_compiled").iterdir()}
    assert shipped == asked_for(site / "ncdiag") | variable
    paste, cache = tmp_path / "paste.txt", tmp_path / "cache"
    paste.write_text("n1:1:1 [0] NCCL INFO NCCL version 2.21.5+cuda12.4\nTraceback (most recent call last):\n")
    done = installed(site, cache, "parse", paste)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"2.21.5" in done.stdout
    assert b", 0 problems" in installed(site, cache, "rules", "test", "NCD101").stdout
    assert "NCD101" in installed(site, cache, "explain", "NCD101", "--lang", "zh").stdout.decode()
    line = "comm 0x7f8a4c000b60 rank 0 nranks 2 cudaDev 0 busId 1b000 - Destroy COMPLETE"  # a quiet message
    assert b"comm-ended (message)" in installed(site, cache, "explain", line).stdout
    assert all(path.name.startswith(("programs-", "guards-")) for path in cache.rglob("*.*"))


def test_a_wheel_carries_the_same_rules_with_their_examples(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = catalogue.rules_with_examples()
    assert sum(len(rule.examples) for rule in expected) > len(expected)
    assert any(sign.example for rule in expected for sign in rule.signs)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(compiled, "_HELD", {})
    monkeypatch.setattr(compiled, "PACKAGE", site / "ncdiag")
    monkeypatch.setattr(compiled, "SHIPPED", site / "ncdiag" / "_compiled")
    assert catalogue.rules_with_examples() == expected
    assert not (tmp_path / "cache").exists()


@pytest.mark.long
def test_a_private_pack_is_compiled_once_beside_a_wheel(site: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    assert installed(site, cache, "rules", "new", "our-net", "--in", tmp_path / "pack").returncode == 0
    for _ in range(2):
        assert b"our-net" in installed(site, cache, "rules", "show", "our-net", "--rules", tmp_path / "pack").stdout
        assert len(list(cache.rglob("pack0-*"))) == 1
    assert b", 0 problems" in installed(site, cache, "rules", "test", tmp_path / "pack").stdout


def test_an_installation_that_lacks_a_compiled_file_says_so(site: Path, tmp_path: Path) -> None:
    missing = site / "ncdiag" / "_compiled" / "rules.msgpack"
    missing.rename(tmp_path / "rules.msgpack")
    try:
        done = installed(site, tmp_path / "cache", "rules", "list")
    finally:
        (tmp_path / "rules.msgpack").rename(missing)
    assert (done.returncode, done.stdout) == (5, b"")
    assert done.stderr.decode() == f"ncdiag: {missing} is missing or damaged; install ncdiag again\n"
