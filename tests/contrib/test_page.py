"""docs/plug-in.md: its command lines run, each with what it says, and it names what there is."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import command_lines
import pytest

from ncdiag.report import FOR_PEOPLE, formats

PAGE = Path(__file__).resolve().parents[2] / "docs" / "plug-in.md"
TEXT = PAGE.read_text(encoding="utf-8")
LINES = [words for block in re.findall(r"(?s)```console\n(.*?)```", TEXT) for words in command_lines.written_in(block)]


@pytest.mark.parametrize("words", LINES, ids=" ".join)
def test_every_command_runs(
    ncdiag: Callable[..., subprocess.CompletedProcess[bytes]], project: Path, tmp_path: Path, words: list[str]
) -> None:
    shutil.copytree(project / "fixtures" / "cases" / "veth", tmp_path / "logs")
    (tmp_path / "jobs").mkdir()
    (tmp_path / "jobs" / "a.sh").write_text("export NCCL_DEBUG=ERROR\nmpirun -np 2 ./train\n")
    done = ncdiag(*words, cwd=tmp_path)
    states = {"nagios"} & {*words}
    assert done.returncode in ({0, 1, 2, 3} if states else {0, 1}), done.stderr
    output = command_lines.options_of(words).get("output")
    assert ((tmp_path / str(output)).stat().st_size if output else len(done.stdout)) > 100


def test_the_page_has_commands_and_all_formats() -> None:
    assert len(LINES) >= 8
    rows = re.findall(r"(?m)^\| `(\w+)` \|", TEXT)
    assert set(rows) == set(formats()) - FOR_PEOPLE
    assert all(any(name in words for words in LINES) for name in rows)


def test_the_files_that_it_names_are_there(project: Path) -> None:
    for name in re.findall(r"`([\w/-]+\.(?:sh|yaml|json|yml))`", TEXT):
        assert [*(project / "contrib").rglob(Path(name).name)], name
