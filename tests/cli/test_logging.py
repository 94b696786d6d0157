"""How to get a log: the page is made from the table, its lines pass lint, and real launchers take them."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from ncdiag.apps.explaining.answers import answers_to
from ncdiag.apps.explaining.logs import book, page
from ncdiag.nccl import environment

Run = Callable[..., subprocess.CompletedProcess[bytes]]
VARIABLE = re.compile(r"\b(?:NCCL|TORCH|HCCL|ASCEND)_[A-Z_]+\b")


def test_the_page_is_up_to_date(project: Path, expect: Callable[[Path, str], None]) -> None:
    expect(project / "docs" / "logging.md", page())


def test_every_variable_on_the_page_exists() -> None:
    named = set(VARIABLE.findall(page()))
    assert {"NCCL_DEBUG", "NCCL_DEBUG_FILE"} <= named
    known = environment.variables()
    assert sorted(name for name in named if name not in known and not name.startswith("ASCEND_")) == []


def test_the_lines_have_nothing_that_lint_would_correct(ncdiag: Run, project: Path, tmp_path: Path) -> None:
    suffix = {"shell": "sh", "yaml": "yaml", "python": "py"}
    ours = [way for way in book().way if "NCCL_DEBUG" in way.set]
    scripts = [tmp_path / f"{number}.{suffix[way.form]}" for number, way in enumerate(ours)]
    for script, way in zip(scripts, ours, strict=True):
        script.write_text(way.set)
    done = ncdiag("lint", project / "docs" / "logging.md", *scripts)
    assert (done.returncode, done.stdout.decode()) == (0, f"0 errors, 0 warnings, 0 notes in {1 + len(ours)} files\n")
    assert len(ours) > 9


def test_a_word_asks_for_all_launchers_or_for_one(ncdiag: Run) -> None:
    whole = ncdiag("explain", "logging").stdout.decode()
    assert "    export NCCL_DEBUG=INFO\n" in whole
    assert all(way.short in whole for way in book().way)
    assert whole.count("\n") < 24
    one = ncdiag("explain", "logging Slurm").stdout.decode()
    srun = next(way for way in book().way if way.name == "srun")
    assert all(f"    {line}\n" in one for line in srun.set.strip().splitlines())
    assert ncdiag("explain", "logging nonsense").returncode == 2
    assert b"did you mean 'logging srun'" in ncdiag("explain", "logging srn").stderr


def test_every_word_for_a_launcher_leads_to_it() -> None:
    for way in book().way:
        for word in (way.name, *way.also):
            (answer,) = answers_to(f"logging {word}")
            assert answer.details["set"] == way.set


def test_no_word_means_two_launchers() -> None:
    words = [word.lower() for way in book().way for word in {way.name.lower(), *way.also}]
    assert len(words) == len(set(words))


@pytest.mark.parametrize("name", ["mpirun of Open MPI"])
def test_a_real_launcher_hands_the_variables_to_every_rank(
    name: str, tmp_path: Path, need: Callable[[str, object, str], None]
) -> None:
    need("mpirun", shutil.which("mpirun"), "Open MPI is not installed (openmpi-bin)")
    line = next(way.set for way in book().way if way.name == name)
    program = "--allow-run-as-root --oversubscribe -np 2 sh -c 'env | grep ^NCCL_DEBUG'"
    done = subprocess.run(["sh", "-c", line.replace("...", program)], cwd=tmp_path, capture_output=True, check=False)
    text = (tmp_path / "job.log").read_text()
    assert done.returncode == 0, done.stderr
    assert text.count("<stdout>:NCCL_DEBUG=INFO") == 2
    assert text.count("<stdout>:NCCL_DEBUG_SUBSYS=INIT,BOOTSTRAP,ENV,NET,GRAPH") == 2
