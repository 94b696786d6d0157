"""Whole inputs through the whole program: each folder of fixtures/cases holds an input and what must come out of it.

case.toml: ``about``; ``input`` (files, default all others in the folder); ``root_cause`` (first finding, a cause);
``findings`` (must be there); ``absent`` (must not be); ``folded`` (consequences of the root cause); ``env`` and
``unset`` (per finding, some fix has exactly this value); ``commands`` (per finding, texts that some fix or its
commands contain); ``proof`` (state and words of the first proved fix); ``says`` (words of the finding's title or
fixes); ``ask_for`` (what the report asks the user for).
"""

from __future__ import annotations

import pathlib
import sys
from typing import Any

import msgspec
import pytest

from ncdiag import triage
from ncdiag.report.model import Finding, Report

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

KEYS = {
    "about", "input", "root_cause", "leads", "verdict", "findings", "absent", "folded", "env", "unset", "commands",
    "proof", "says", "ask_for",
}  # fmt: skip
CASES = pathlib.Path(__file__).parent.parent / "fixtures" / "cases"


def report_of(folder: pathlib.Path, case: dict[str, Any]) -> Report:
    """The report on the case's input files."""
    names = case.get("input") or sorted(p.name for p in folder.iterdir() if p.name != "case.toml")
    return triage([folder / name for name in names])


def words_of(finding: Finding) -> str:
    """All that a finding tells a person, as one text."""
    return msgspec.json.encode(finding).decode()


@pytest.mark.parametrize("folder", sorted(p for p in CASES.iterdir() if p.is_dir()), ids=lambda p: p.name)
def test_case(folder: pathlib.Path) -> None:
    case = tomllib.loads((folder / "case.toml").read_text())
    assert set(case) <= KEYS
    report = report_of(folder, case)
    named = {finding.name: finding for finding in report.findings}
    check_names(case, report, named)
    check_fixes(case, named)
    asked = {ask for item in report.unknown for ask in item.ask_for}
    for wanted in case.get("ask_for", []):
        assert any(wanted in ask for ask in asked), asked


def check_names(case: dict[str, Any], report: Report, named: dict[str, Finding]) -> None:
    if "root_cause" in case:
        assert report.summary.root_cause == case["root_cause"], list(named)
        assert report.findings[0].name == case["root_cause"]
    if "leads" in case:
        assert report.answers[0] == case["leads"], list(named)
    if "verdict" in case:
        assert report.summary.verdict == case["verdict"], list(named)
    assert set(case.get("findings", [])) <= set(named)
    assert not set(case.get("absent", [])) & set(named)
    for name in case.get("folded", []):
        assert name in named[case["root_cause"]].consequences
        assert case["root_cause"] in named[name].explained_by


def check_fixes(case: dict[str, Any], named: dict[str, Finding]) -> None:
    for name, wanted in case.get("env", {}).items():
        assert any(wanted.items() <= fix.env.items() for fix in named[name].fixes), named[name].fixes
    for name, wanted in case.get("unset", {}).items():
        assert any(set(wanted) <= set(fix.unset) for fix in named[name].fixes), named[name].fixes
    for group in ("commands", "says"):
        for name, texts in case.get(group, {}).items():
            for text in texts:
                assert text in words_of(named[name])
    for name, wanted in case.get("proof", {}).items():
        proofs = [fix.proof for fix in named[name].fixes if fix.proof and fix.proof.state == wanted["state"]]
        assert proofs, named[name].fixes
        assert all(word in proofs[0].text for word in wanted["names"]), proofs[0].text


def test_every_evidence_line_is_a_line_of_the_input() -> None:
    for folder in (p for p in CASES.iterdir() if p.is_dir()):
        case = tomllib.loads((folder / "case.toml").read_text())
        for finding in report_of(folder, case).findings:
            assert finding.evidence, (folder.name, finding.name)
            for item in finding.evidence:
                if item.line:
                    line = pathlib.Path(item.source).read_text().splitlines()[item.line - 1]
                    assert item.text[:200] in line
