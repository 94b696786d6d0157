"""``--format html`` of the commands that have it."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from pages import Reader

Run = Callable[..., subprocess.CompletedProcess[bytes]]


@pytest.fixture(scope="module")
def rich(project: Path) -> Path:
    return project / "fixtures" / "pictures" / "two-hosts.txt"


@pytest.mark.parametrize("command", ["parse", "triage"])
def test_a_report_is_written_into_a_file(ncdiag: Run, rich: Path, tmp_path: Path, command: str) -> None:
    target = tmp_path / "report.html"
    done = ncdiag(command, rich, "--format", "html", "-o", target)
    assert (done.returncode, done.stdout) == (1, b"")
    page = Reader(target.read_text(encoding="utf-8"))
    assert len(page.of("svg")) > 3
    assert "version-nccl-mismatch" in page.text


def test_a_redacted_report_names_no_host(ncdiag: Run, rich: Path) -> None:
    text = ncdiag("parse", rich, "--format", "html", "--redact").stdout.decode()
    assert "px0" not in text
    assert len(Reader(text).of("svg")) > 3


def test_a_look_at_a_tree_has_its_table(ncdiag: Run, project: Path) -> None:
    root = next(path for path in sorted((project / "fixtures" / "roots").iterdir()) if path.is_dir())
    page = Reader(ncdiag("check", "--root", root, "--format", "html").stdout.decode())
    assert "Checks: " in page.text
    assert len(page.of("table")) >= 1


def test_two_runs_side_by_side(ncdiag: Run, rich: Path, project: Path) -> None:
    other = project / "fixtures" / "cases" / "veth" / "nccl.log"
    page = Reader(ncdiag("diff", other, rich, "--format", "html").stdout.decode())
    assert {"Before", "After", "version-nccl-mismatch (new)"} <= set(page.text.split("\n"))


def test_many_jobs_have_no_page(ncdiag: Run, rich: Path) -> None:
    done = ncdiag("parse", "--each", rich, "--format", "html")
    assert done.returncode == 2
    assert b"no format 'html' for many jobs" in done.stderr
