"""The commands in the documentation: every option exists, and those in consoles run and print what is shown.

In a block of ``console``, a line that begins with ``$`` is a command. What stands below it, if anything, is what it
prints; ``pytest --update`` brings it up to date.
"""

from __future__ import annotations

import contextlib
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import command_lines
import pytest
from typer._click.exceptions import BadOptionUsage, MissingParameter, NoArgsIsHelpError

from ncdiag.cli import command_names

PROJECT = Path(__file__).resolve().parents[2]
WRITTEN = [PROJECT / "README.md", PROJECT / "contrib" / "README.md", *(PROJECT / "docs").glob("*.md"),
           *(PROJECT / "docs" / "how-to").glob("*.md")]  # fmt: skip
PAGES = {path.relative_to(PROJECT).as_posix(): path for path in WRITTEN}
BLOCK = re.compile(r"(?ms)^```console\n(.*?)^```$")
SHOWN = re.compile(r"(?s)<!-- output of: ncdiag (.+?) -->\n```text\n(.*?)```\n<!-- end -->")
OUTPUT = re.compile(r"(?ms)^```text.*?^```$")
ELSEWHERE = {"probe", "run", "watch", "serve", "mcp"}
"""Commands that need other hosts, a job or a client, and do not end by themselves: only their options are looked at."""
HOSTS = {"nodes", "pid", "from_"}
ANSWERS = {0, 1, 3}


class Command(NamedTuple):
    """A command of a console, and the text below it."""

    line: str
    printed: str

    def words(self) -> list[str] | None:
        """The arguments of ncdiag; None for a line that does more than to run it."""
        try:
            split = shlex.split(self.line.replace("\\\n", " "), comments=True)
        except ValueError:
            return None
        if split[:1] != ["ncdiag"] or {"|", ">", "<", "&&", ";"} & set(split):
            return None
        return split[1:]

    def runs_here(self) -> bool:
        """True if it needs nothing that the prepared folder lacks."""
        words = self.words()
        if not words or words[0] in ELSEWHERE:
            return False
        if words[0] in command_names():
            options = command_lines.options_of(words)
            return not any(options.get(name) for name in HOSTS)
        return True


def commands(block: str) -> Iterator[Command]:
    """The commands of a console, in order."""
    for part in re.split(r"(?m)^\$ ", block)[1:]:
        lines = part.splitlines(keepends=True)
        count = 1 + next((i for i, line in enumerate(lines) if not line.endswith("\\\n")), 0)
        yield Command("".join(lines[:count]).rstrip("\n"), "".join(lines[count:]))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the documentation's commands run: the shipped fixtures, and the files that the pages speak of."""
    (tmp_path / "fixtures").symlink_to(PROJECT / "fixtures")
    veth = PROJECT / "fixtures" / "cases" / "veth" / "nccl.log"
    shutil.copy(veth, tmp_path / "my.log")
    shutil.copytree(veth.parent, tmp_path / "logs")
    shutil.copy(PROJECT / "fixtures" / "cases" / "roce-gid-3-old" / "paste.txt", tmp_path / "paste.txt")
    script = "#!/bin/bash\n#SBATCH --nodes=2\nexport NCCL_DEBUG=ERROR\nsrun python train.py\n"
    for name in ("job.sbatch", "jobs/a.sh", "deploy/run.sh"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(script)
    (tmp_path / "Dockerfile").write_text("FROM nvcr.io/nvidia/pytorch:24.01-py3\nENV NCCL_DEBUG=ERROR\n")
    for name, level in (("nccl-a.conf", "WARN"), ("nccl-b.conf", "INFO")):
        (tmp_path / name).write_text(f"NCCL_DEBUG={level}\nNCCL_IB_TC={len(level)}\n")
    return tmp_path


@pytest.mark.parametrize("name", PAGES)
def test_every_option_exists(name: str) -> None:
    text = OUTPUT.sub("", PAGES[name].read_text(encoding="utf-8")).replace("\\|", "|")
    for words in command_lines.written_in(text):
        if not any(word.startswith(("[", "...")) or "|" in word or word.endswith("...") for word in words):
            with contextlib.suppress(BadOptionUsage, MissingParameter, NoArgsIsHelpError):  # named in a sentence
                command_lines.options_of(words)


@pytest.mark.parametrize("name", [name for name, path in PAGES.items() if BLOCK.search(path.read_text("utf-8"))])
def test_every_command_prints_what_is_shown(
    name: str,
    folder: Path,
    ncdiag: Callable[..., subprocess.CompletedProcess[bytes]],
    expect: Callable[[Path, str], None],
) -> None:
    path = PAGES[name]

    def again(block: re.Match[str]) -> str:
        parts = [f"$ {each.line}\n{_printed(each, folder, ncdiag)}" for each in commands(block[1])]
        return "```console\n" + "".join(parts) + "```"

    expect(path, BLOCK.sub(again, path.read_text(encoding="utf-8")))


def _printed(command: Command, folder: Path, ncdiag: Callable[..., subprocess.CompletedProcess[bytes]]) -> str:
    """What belongs below the command: what it prints where that is shown, else nothing; it runs in either case."""
    if not command.runs_here():
        return command.printed
    words = command.words() or []
    done = ncdiag(*words, cwd=folder, env={"COLUMNS": "80", "NO_COLOR": "1"})
    assert done.returncode in ANSWERS | ({2} if "nagios" in words else set()), (command.line, done.stderr)
    assert done.stdout or "-o" in words or "collect" in words, command.line
    return done.stdout.decode() if command.printed else ""


@pytest.mark.parametrize("name", [name for name, path in PAGES.items() if SHOWN.search(path.read_text("utf-8"))])
def test_every_output_is_what_the_program_prints(
    name: str, ncdiag: Callable[..., subprocess.CompletedProcess[bytes]], expect: Callable[[Path, str], None]
) -> None:
    path = PAGES[name]

    def again(block: re.Match[str]) -> str:
        done = ncdiag(*block[1].split(), cwd=PROJECT, env={"COLUMNS": "80"})
        return f"<!-- output of: ncdiag {block[1]} -->\n```text\n{done.stdout.decode()}```\n<!-- end -->"

    expect(path, SHOWN.sub(again, path.read_text(encoding="utf-8")))


def test_the_pages_show_commands() -> None:
    blocks = [block for path in PAGES.values() for block in BLOCK.findall(path.read_text(encoding="utf-8"))]
    shown = [each for block in blocks for each in commands(block)]
    assert len([each for each in shown if each.runs_here()]) > 15
    assert len([each for each in shown if each.runs_here() and each.printed]) > 7
