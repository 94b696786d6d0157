"""The manual page holds what ``--help`` says, and formatters have nothing to complain about."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import typer

from ncdiag.cli import command_names

Need = Callable[[str, object, str], None]


def test_it_is_up_to_date(project: Path, expect: Callable[[Path, str], None], monkeypatch: pytest.MonkeyPatch) -> None:
    if not typer.__version__.startswith("0.28."):
        pytest.skip("another release of typer words ranges and defaults in its own way")
    monkeypatch.setenv("COLUMNS", "80")
    spec = importlib.util.spec_from_file_location("man", project / "tools" / "man.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    expect(project / "docs" / "ncdiag.1", module.page())


def test_a_person_finds_every_command_and_no_warning(project: Path, need: Need) -> None:
    page = project / "docs" / "ncdiag.1"
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
