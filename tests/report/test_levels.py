"""One error for one cause, in the formats where a line stands for a cause."""

from __future__ import annotations

import json

import msgspec
import pytest
from kept_reports import NAMES, load

from ncdiag.base.severity import SEVERITIES
from ncdiag.diagnose import diagnose
from ncdiag.report import renderer
from ncdiag.report.levels import levels
from ncdiag.report.model import Finding, Report
from ncdiag.text.sources.files import TextSource

TWO_ADDRESSES = """\
fir1:11:11 [0] NCCL INFO Bootstrap : Using lo:127.0.0.1<0>
fir2:12:12 [0] NCCL INFO Bootstrap : Using lo:127.0.0.1<0>
fir2:12:12 [0] misc/socket.cc:484 NCCL WARN socketStartConnect: Connect to 127.0.0.1<40815> failed : Connection refused
"""


def _of(*findings: Finding) -> Report:
    return msgspec.structs.replace(load("veth"), findings=findings, suspects=())


def _finding(name: str, severity: str, *explained_by: str) -> Finding:
    first = load("veth").findings[0]
    return msgspec.structs.replace(first, name=name, code=name, severity=severity, explained_by=explained_by)


@pytest.mark.parametrize("name", NAMES)
def test_the_worst_is_kept(name: str) -> None:
    report = load(name)
    worst = [min(found, key=SEVERITIES.index, default=None) for found in (
        [finding.severity for finding in report.findings], list(levels(report).values())
    )]  # fmt: skip
    assert worst[0] == worst[1]


def test_a_cause_is_as_grave_as_what_it_explains() -> None:
    assert [*levels(_of(_finding("a", "warning"), _finding("b", "error", "a"))).values()] == ["error", "info"]


def test_a_second_finding_of_a_rule_and_a_repeated_line_are_notes() -> None:
    report = _of(_finding("a", "warning"), _finding("a", "error"), _finding("failure-reported", "error"))
    assert [*levels(report).values()] == ["error", "info", "info"]


def test_two_causes_are_two_errors_and_a_line_alone_is_one() -> None:
    assert [*levels(_of(_finding("a", "error"), _finding("b", "error"))).values()] == ["error", "error"]
    assert [*levels(_of(_finding("failure-reported", "error"))).values()] == ["error"]


def test_a_paste_with_one_cause_has_one_error_in_each_format() -> None:
    report = diagnose([TextSource.of_bytes("paste", TWO_ADDRESSES.encode())])
    assert renderer("github")(report).count("::error ") == 1
    assert renderer("junit")(report).count("<failure") == 1
    results = json.loads(renderer("sarif")(report))["runs"][0]["results"]
    assert [result["level"] for result in results].count("error") == 1
    assert "more)" not in renderer("nagios")(report).splitlines()[0]
