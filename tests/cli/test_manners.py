"""The command line as people expect it: short forms, pipes, missing files, mistyped words, help, completion, width."""

from __future__ import annotations

import json
import os
import pty
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ncdiag.cli import command_names

Done = subprocess.CompletedProcess[bytes]
Run = Callable[..., Done]
WIDTH = 80


@pytest.fixture(scope="module")
def veth(project: Path) -> Path:
    return project / "fixtures" / "cases" / "veth" / "nccl.log"


@pytest.mark.parametrize(
    "before", [["-q"], ["--format", "json"], ["--format=json", "-q"], ["--fail-on", "never", "--format", "json"]]
)
def test_options_may_stand_before_the_file(ncdiag: Run, veth: Path, before: list[str]) -> None:
    assert ncdiag(*before, veth).stdout == ncdiag("triage", *before, veth).stdout != b""


def test_options_may_stand_before_the_command(ncdiag: Run, veth: Path) -> None:
    done = ncdiag("--format", "json", "parse", veth)
    assert json.loads(done.stdout)["summary"]["root_cause"] == "socket-virtual-ifname"


@pytest.mark.parametrize("options", [[], ["--brief"], ["-q", "--format", "json"]])
def test_what_is_piped_in_is_judged_without_a_dash(ncdiag: Run, veth: Path, options: list[str]) -> None:
    piped = ncdiag(*options, input=veth.read_bytes())
    assert (piped.returncode, piped.stdout) == (1, ncdiag("triage", *options, "-", input=veth.read_bytes()).stdout)


@pytest.mark.parametrize("name", ["nosuch.log", "./nosuch", "logs/nosuch"])
def test_a_missing_file_is_no_command(ncdiag: Run, name: str) -> None:
    done = ncdiag(name)
    assert (done.returncode, done.stderr.decode()) == (2, f"ncdiag: no such file: {name}\n")


@pytest.mark.parametrize(("typed", "meant"), [("pars", "parse"), ("tirage", "triage"), ("chekc", "check")])
def test_a_mistyped_command_is_recognised(ncdiag: Run, typed: str, meant: str) -> None:
    done = ncdiag(typed, "x.log")
    assert done.returncode == 2
    assert f"did you mean 'ncdiag {meant}'?" in done.stderr.decode()


def test_a_word_that_is_like_nothing_is_refused(ncdiag: Run) -> None:
    done = ncdiag("qqqqqq")
    assert done.returncode == 2
    assert "neither a command nor a file" in done.stderr.decode()


def test_help_is_a_command_too(ncdiag: Run) -> None:
    assert ncdiag("help").stdout == ncdiag("--help").stdout
    assert ncdiag("help", "lint").stdout == ncdiag("lint", "--help").stdout
    assert ncdiag("help", "lnit").returncode == 2
    assert ncdiag("-V").stdout == ncdiag("--version").stdout


def test_the_list_of_commands_is_whole(ncdiag: Run) -> None:
    text = ncdiag("--help", env={"COLUMNS": str(WIDTH)}).stdout.decode()
    listed = text.partition("Commands:\n")[2].partition("\n\n")[0].splitlines()
    assert [line.split()[0] for line in listed] == command_names()
    assert not [line for line in listed if "..." in line or len(line) > WIDTH]


@pytest.mark.parametrize("name", [*command_names(), *(f"rules {n}" for n in ("list", "show", "test", "new", "facts"))])
def test_every_help_has_examples(ncdiag: Run, name: str) -> None:
    text = ncdiag(*name.split(), "--help", env={"COLUMNS": str(WIDTH)}).stdout.decode()
    examples = text.partition("  Examples:\n")[2].splitlines()
    assert examples
    assert any(f"ncdiag {name.split(maxsplit=1)[0]}" in line or "| ncdiag" in line for line in examples)
    assert max(map(len, text.splitlines())) <= WIDTH


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_offered_for(ncdiag: Run, shell: str) -> None:
    script = ncdiag("completion", shell).stdout.decode()
    assert "_NCDIAG_COMPLETE" in script
    if shutil.which(shell):
        assert subprocess.run([shell, "-n"], input=script.encode(), check=False).returncode == 0


def test_bash_completes_commands_and_options(ncdiag: Run) -> None:
    def completed(words: str, place: int) -> list[str]:
        env = {"_NCDIAG_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(place)}
        return ncdiag(env=env).stdout.decode().split()

    assert completed("ncdiag pa", 1) == ["parse"]
    assert completed("ncdiag parse --verb", 2) == ["--verbose"]


def test_colour_can_be_forced_and_forbidden(ncdiag: Run, veth: Path) -> None:
    assert b"\x1b[" not in ncdiag(veth).stdout
    assert b"\x1b[" in ncdiag(veth, env={"FORCE_COLOR": "1"}).stdout
    assert b"\x1b[" not in ncdiag(veth, env={"FORCE_COLOR": "1", "NO_COLOR": "1"}).stdout
    assert b"\x1b[" not in ncdiag("--no-color", veth, env={"FORCE_COLOR": "1"}).stdout


def test_the_screen_is_short_and_verbose_is_whole(ncdiag: Run, veth: Path) -> None:
    screen, whole, brief = (ncdiag(*option, veth).stdout.decode() for option in ([], ["-v"], ["--brief"]))
    assert screen.count("\n") < 24 < whole.count("\n")
    assert "See https://docs.nvidia.com" in whole
    first, *suspects = brief.splitlines()
    assert first.startswith("error: NCD101 socket-virtual-ifname on gpu-a01")
    assert all(line.startswith(("possible: NCD", "unlikely: NCD")) for line in suspects), (
        "one line per finding, then the suspects"
    )
    assert len(suspects) <= 3


@pytest.mark.parametrize(
    "command",
    [
        ["explain", "NCCL_IB_GID_INDEX"],
        ["explain", "NCD101"],
        ["rules", "list"],
        ["rules", "show", "NCD101"],
        ["check", "--list"],
    ],
)
def test_text_for_people_keeps_to_the_terminal(program: list[str], command: list[str]) -> None:
    columns = 70
    lines = on_terminal([*program, *command], columns)
    assert len(lines) > 10
    wide = [line for line in lines if len(line) > columns and " " in line.strip()[:columns]]
    assert wide == []


def on_terminal(command: list[str], columns: int) -> list[str]:
    """The lines that a program prints on a terminal of so many columns."""
    leader, follower = pty.openpty()
    env = {name: value for name, value in os.environ.items() if name != "LINES"} | {"COLUMNS": str(columns)}
    with subprocess.Popen(command, stdin=follower, stdout=follower, stderr=follower, env=env) as running:
        os.close(follower)
        found = b""
        while True:
            try:
                piece = os.read(leader, 65536)
            except OSError:  # nobody holds the other end any more
                break
            if not piece:
                break
            found += piece
        running.wait()
    os.close(leader)
    return found.decode().replace("\r\n", "\n").splitlines()


def test_ctrl_c_while_the_program_is_imported_says_nothing(tmp_path: Path) -> None:
    """A module that interrupts its own import stands for a person who is quick."""
    code = (
        "import importlib.abc, os, signal, sys\n"
        "class Quick(importlib.abc.MetaPathFinder):\n"
        "    def find_spec(self, name, path, target=None):\n"
        "        if name == 'typer':\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Quick())\n"
        "from ncdiag.__main__ import main\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, b"", b"")


def test_rules_are_listed_for_programs(ncdiag: Run) -> None:
    held = json.loads(ncdiag("rules", "list", "--format", "json").stdout)
    assert held["schema_version"] == 1
    assert {"code", "name", "area", "severity", "role", "title"} == set(held["rules"][0])
