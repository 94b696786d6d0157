"""The hook for pre-commit names files that lint reads, and lint imports nothing that only Unix has."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from ncdiag.apps.lint import forms
from ncdiag.formats.yaml import load

BY_CONTENT = {".json", ".toml", ".py", ".txt"}
"""Names of files most of which set nothing, so that the hook leaves them out."""
FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "lint"


def test_the_hook_takes_every_fixture_and_nothing_that_lint_refuses(project: Path) -> None:
    root, unread = load((project / ".pre-commit-hooks.yaml").read_text(encoding="utf-8").split("\n"))
    (hook,) = root.value if isinstance(root.value, list) else []
    assert unread == []
    assert hook.text("entry") == "ncdiag lint"
    wanted = re.compile(hook.text("files") or "")
    for path in FIXTURES.rglob("*"):
        if path.is_file() and path.suffix not in BY_CONTENT:
            assert (wanted.search(path.as_posix()) is not None) == (path.suffix != ".expected"), path
    for name in ("notes.md", "train.py", "data.json", "x.conf.bak"):
        assert wanted.search(name) is None


@pytest.mark.parametrize(
    "name", ["a.sh", "b/Dockerfile.gpu", "Dockerfile_2.rocm", "c.yml", ".env", "nccl.conf", "hostfile"]
)
def test_a_file_of_the_hook_without_settings_is_understood(name: str) -> None:
    assert forms.form_of(name, "") is not None


def test_lint_needs_nothing_that_only_unix_has() -> None:
    program = """
import sys
for name in ("fcntl", "grp", "pwd", "resource", "termios", "tty", "pty", "netifaces", "pynvml", "psutil"):
    sys.modules[name] = None
from ncdiag.commands import lint
from ncdiag.apps.lint import forms, output, run
print(output.as_text(run.lint([forms.read("f", "export NCCL_DEBUG=ERROR", "shell")], run.Options())))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert done.stderr == b""
    assert b"NCL205" in done.stdout
