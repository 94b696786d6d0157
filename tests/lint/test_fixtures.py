"""Each fixture of fixtures/lint is linted; what is found stands beside it, as lines that people can review."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ncdiag import catalogue
from ncdiag.apps.lint import forms, inputs
from ncdiag.apps.lint.edits import corrected
from ncdiag.apps.lint.findings import checks
from ncdiag.apps.lint.model import Document, Finding
from ncdiag.apps.lint.run import Options, lint

FOLDER = Path(__file__).resolve().parents[2] / "fixtures" / "lint"
FILES = sorted(path for path in FOLDER.rglob("*") if path.is_file() and path.suffix != ".expected")


def told(document: Document, found: Finding) -> str:
    """A finding on one line: place, severity, code, name, variable, and the corrected lines."""
    line, column = document.line(found.place.start), document.column(found.place.start)
    text = corrected(document, found)
    better = "" if text is None else " => " + (text.replace("\n", "\\n") or "(gone)")
    mark = " !" if found.fixable else ""
    return f"{line}:{column} {found.severity} {found.code} {found.name} {found.variable or '-'}{better}{mark}\n"


def findings(path: Path) -> tuple[Document, tuple[Finding, ...]]:
    (document,), notes = inputs.opened([str(path)], None)
    assert notes == [], notes
    (result,) = lint([document], Options())
    return document, result.findings


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(FOLDER)))
def test_what_is_found_is_what_was_expected(path: Path, expect: Callable[[Path, str], None]) -> None:
    document, found = findings(path)
    text = f"form {document.form}\n" + "".join(told(document, each) for each in found)
    text += f"unread {' '.join(map(str, document.unread))}\n" if document.unread else ""
    text += f"unknown {' '.join(map(str, document.unknown))}\n" if document.unknown else ""
    expect(path.with_name(f"{path.name}.expected"), text)


@pytest.mark.parametrize("path", [p for p in FILES if "good" in p.name], ids=lambda p: str(p.relative_to(FOLDER)))
def test_good_files_are_left_alone(path: Path) -> None:
    document, found = findings(path)
    assert [told(document, each) for each in found] == []


def test_every_form_has_a_good_and_a_bad_fixture() -> None:
    for folder in FOLDER.iterdir():
        names = [path.name for path in folder.iterdir()]
        assert any("good" in name for name in names), folder
        assert any("bad" in name for name in names), folder
    seen = {forms.form_of(path.name, path.read_text(encoding="utf-8")) for path in FILES}
    assert seen == {
        "shell",
        "dockerfile",
        "kubernetes",
        "compose",
        "env",
        "conf",
        "hostfile",
        "ranktable",
        "json",
        "toml",
        "python",
    }


def test_every_check_is_found_by_some_fixture() -> None:
    seen = {found.name for path in FILES for found in findings(path)[1]}
    assert set(checks()) - seen == set()


def test_codes_are_unique_and_none_is_a_rule_s() -> None:
    codes = [check.code for check in checks().values()]
    assert len(codes) == len(set(codes))
    assert not {rule.code for rule in catalogue.rules()} & set(codes)
    assert not {rule.name for rule in catalogue.rules()} & set(checks())


def test_every_finding_has_a_reason_and_a_remedy() -> None:
    for path in FILES:
        for found in findings(path)[1]:
            assert found.reason, found.name
