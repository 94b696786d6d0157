"""What an agent looks at for a launch, and that it starts nothing of it but a Python to ask it for its release."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ncdiag.agent.probe.needs import Needs


def looked_at(*programs: str) -> list[str]:
    return Needs({"programs": programs, "paths": ()}).lines("n1")


@pytest.mark.parametrize("name", ["python_train.sh", "python-env", "pythonw.py", "python3.11.bak", "python"])
def test_a_program_whose_name_begins_like_python_is_not_started(tmp_path: Path, name: str) -> None:
    """Not even where a script of that name is called as an interpreter."""
    program, started = tmp_path / name, tmp_path / "started"
    program.write_text(f"#!/bin/sh\ntouch {started}\n")
    program.chmod(0o755)
    script = tmp_path / "train.sh"
    script.write_text(f"#!{program}\n")
    script.chmod(0o755)
    lines = looked_at(str(program), str(script))
    assert f"probe n1 has program {program} at {program}" in lines
    assert f"probe n1 has program {script} at {script}" in lines
    assert started.exists() is (name == "python")


def test_a_python_is_asked_for_its_release() -> None:
    version = ".".join(map(str, sys.version_info[:3]))
    assert f"probe n1 has program {sys.executable} at {sys.executable}, Python {version}" in looked_at(sys.executable)
