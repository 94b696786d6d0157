"""The manual page holds what ``--help`` says, and formatters have nothing to complain about."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main

from ncdiag.cli import app, command_names

Need = Callable[[str, object, str], None]


@pytest.fixture(scope="session")
def page(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The manual page, written as the build of a wheel does it, whatever the terminal and the language."""
    path = tmp_path_factory.mktemp("man") / "new" / "ncdiag.1"
    env = {**os.environ, "COLUMNS": "40", "NCDIAG_LANG": "zh"}
    subprocess.run([sys.executable, project / "tools" / "man.py", path], env=env, check=True)
    return path


def options(command: Any, name: str) -> Iterator[tuple[str, str]]:  # noqa: ANN401  (the classes moved between releases)
    """The full name of a command and of those below it, with each option that is not hidden."""
    context = command.context_class(command, info_name=name)
    for parameter in command.get_params(context):
        if not getattr(parameter, "hidden", False):
            yield from ((name, word) for word in (*parameter.opts, *parameter.secondary_opts) if word.startswith("--"))
    for inner in command.list_commands(context) if hasattr(command, "list_commands") else ():
        yield from options(command.get_command(context, inner), f"{name} {inner}")


def test_every_command_and_option_is_in_it(page: Path) -> None:
    text = page.read_text(encoding="utf-8").replace("\\-", "-")
    sections = {part.partition("[")[0].strip(): part for part in text.split("\n.SS ")[1:]}
    listed = {(name, word) for name, word in options(typer.main.get_command(app), "ncdiag") if name != "ncdiag"}
    assert {name for name, _ in listed} >= {f"ncdiag {name}" for name in command_names()}
    assert ("ncdiag rules test", "--rules") in listed
    assert sorted((name, word) for name, word in listed if not re.search(rf"{word}\b", sections[name])) == []


def test_a_person_finds_every_command_and_no_warning(page: Path, need: Need) -> None:
    need("mandoc", shutil.which("mandoc") and shutil.which("man"), "mandoc or man is not installed")
    checked = subprocess.run(
        ["mandoc", "-Tlint", "-W", "warning", str(page)], capture_output=True, text=True, check=False
    )
    complaints = [line for line in checked.stdout.splitlines() if "missing date" not in line]  # the same page every day
    assert complaints == []
    env = {**os.environ, "MANWIDTH": "80", "LC_ALL": "C.UTF-8"}
    shown = subprocess.run(
        ["man", "--warnings", "-l", str(page)], env=env, capture_output=True, text=True, check=True, timeout=60
    )
    assert shown.stderr == ""
    headings = {" ".join(line.split()[:2]) for line in shown.stdout.splitlines() if line.startswith("   ncdiag ")}
    assert {f"ncdiag {name}" for name in command_names()} <= headings
    assert "--min-severity" in shown.stdout
    assert "EXIT STATUS" in shown.stdout
    assert 'eval "$(ncdiag completion bash)"     # in ~/.bashrc' in shown.stdout
    assert "kubectl logs trainer-0 | ncdiag" in shown.stdout
