"""Situations as people paste them: the right cause, on the right host, first, on one screen of 80 columns."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from ncdiag.commands._judge import exit_code
from ncdiag.commands._options import FailOn
from ncdiag.diagnose import diagnose
from ncdiag.report import renderer
from ncdiag.report.model import Report
from ncdiag.text.sources.files import TextSource

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE = Path(__file__).parent
WIDTH, HEIGHT = 80, 24
WANTED: dict[str, dict[str, Any]] = tomllib.loads((HERE / "situations.toml").read_text(encoding="utf-8"))
REPORTS: dict[str, Report] = {}


def report_of(name: str) -> Report:
    """The report on a situation, made once for all tests."""
    if name not in REPORTS:
        text = (HERE / "situations" / f"{name}.txt").read_bytes()
        REPORTS[name] = diagnose([TextSource.of_bytes("paste", text)])
    return REPORTS[name]


def screen(name: str) -> str:
    return renderer("text")(report_of(name), width=WIDTH, detail="screen")


def test_every_text_has_an_answer() -> None:
    assert sorted(WANTED) == sorted(path.stem for path in (HERE / "situations").glob("*.txt"))


@pytest.mark.parametrize("name", WANTED)
def test_the_cause_comes_first_and_the_screen_names_it(name: str) -> None:
    wanted, report = WANTED[name], report_of(name)
    assert report.answers[0] == wanted["first"]
    shown = screen(name)
    words = " ".join(shown.split())
    assert f"{report.findings[0].name} ({report.findings[0].code}" in words
    assert [word for word in wanted["shows"] if word not in words] == []
    assert exit_code(report, FailOn.error) == wanted.get("exit", 1)


@pytest.mark.parametrize("name", WANTED)
def test_the_screen_fits_above_a_prompt_and_ends_in_what_to_do(name: str) -> None:
    lines = screen(name).splitlines()
    rows = sum(max(1, -(-len(line) // WIDTH)) for line in lines)
    assert rows < HEIGHT
    assert lines[-1].endswith("add -v for the full report")
    assert any(line.startswith("Next: ") for line in lines)


@pytest.mark.parametrize("name", WANTED)
def test_no_fix_is_what_is_set_already(name: str) -> None:
    report = report_of(name)
    text = (HERE / "situations" / f"{name}.txt").read_text(encoding="utf-8")
    offered = [(key, value) for finding in report.findings for fix in finding.fixes for key, value in fix.env.items()]
    assert [pair for pair in offered if f"{pair[0]} set by environment to {pair[1]}" in text] == []
