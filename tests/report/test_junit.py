"""JUnit: junitparser reads every report, and what fails the run is a failed test."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from junitparser import Error, Failure, JUnitXml, Skipped, TestCase, TestSuite
from kept_reports import NAMES, load

from ncdiag.report import renderer
from ncdiag.report.levels import levels
from ncdiag.report.model import Look, Report, Unknown

Run = Callable[..., subprocess.CompletedProcess[bytes]]


def suite_of(text: str | bytes) -> TestSuite:
    """The one suite, whose counts are those of its tests."""
    suites = JUnitXml.fromstring(text.encode() if isinstance(text, str) else text)
    (suite,) = suites
    cases = list(suite)
    kinds = [type(case.result[0]) for case in cases if case.result]
    for counted in (suite, suites):
        assert counted.tests == len(cases) > 0
        assert counted.failures == kinds.count(Failure)
        assert counted.errors == kinds.count(Error)
        assert counted.skipped == kinds.count(Skipped)
    return suite


def cases_of(report: Report, fail_on: str = "error") -> list[TestCase]:
    return list(suite_of(renderer("junit")(report, fail_on=fail_on)))


def failed(cases: list[TestCase]) -> list[str]:
    return [case.name for case in cases if any(isinstance(each, Failure) for each in case.result)]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("fail_on", ["error", "warning", "info", "never"])
def test_what_fails_the_run_is_a_failed_test(name: str, fail_on: str) -> None:
    report = load(name)
    order = ["error", "warning", "info"]
    failing = order[: order.index(fail_on) + 1] if fail_on in order else []
    cases = cases_of(report, fail_on)
    assert len(failed(cases)) == sum(severity in failing for severity in levels(report).values())
    named = [case.name.split()[0] for case in cases]
    assert all(finding.code in named for finding in report.findings)


def test_a_failure_says_what_why_and_where() -> None:
    report = load("veth")
    (first, *_) = cases_of(report)
    (result,) = first.result
    assert result.message == report.findings[0].title
    for text in (report.findings[0].why, report.findings[0].evidence[0].text, "export NCCL_SOCKET_IFNAME"):
        assert text in result.text


def look(what: str, status: str, *findings: str) -> Look:
    return Look(area="limits", what=what, status=status, host="n1", seen="64", why="too low", findings=findings)  # type: ignore[arg-type]


def test_the_table_of_check_is_one_test_a_look() -> None:
    report = load("veth")
    name = report.findings[0].name
    looks = (look("a", "PASS"), look("b", "FAIL", name), look("c", "WARN"), look("d", "SKIP"))
    cases = cases_of(msgspec.structs.replace(report, looks=looks, findings=report.findings[:2]))
    assert failed(cases) == [
        "b on n1",
        *failed(cases_of(msgspec.structs.replace(report, findings=report.findings[1:2]))),
    ]
    assert not [case for case in cases if name in case.name], "the look b is that finding"
    skipped = [case.name for case in cases if any(isinstance(each, Skipped) for each in case.result)]
    assert "d on n1" in skipped
    names = {case.name for case in cases_of(msgspec.structs.replace(report, looks=looks[:1], findings=()))}
    assert names >= {"a on n1"}, "the name of a test does not depend on how it ends"


def test_what_was_not_judged_is_skipped_and_a_fault_of_ncdiag_an_error() -> None:
    report = msgspec.structs.replace(
        load("healthy"), findings=(), unknown=(Unknown("NCD999", "a-rule", ("limits",), ("ulimit -a",)),), faults=("x",)
    )
    results = {case.name: type(case.result[0]) for case in cases_of(report) if case.result}
    assert results == {"NCD999 a-rule": Skipped, "x": Error}


def test_nothing_understood_is_an_error_and_no_fault_a_passed_test() -> None:
    assert any(isinstance(each, Error) for case in cases_of(load("nothing")) for each in case.result)
    healthy = msgspec.structs.replace(load("healthy"), findings=(), unknown=(), faults=())
    assert [(case.name, case.result) for case in cases_of(healthy)] == [("no fault found", [])]


def test_no_character_breaks_the_document() -> None:
    report = load("veth")
    title = "".join(map(chr, [*range(0x20), 0x7F, 0x85, 0xD800, 0xFFFE, 0xFFFF, 0x10FFFF])) + "]]><&\"'"
    finding = msgspec.structs.replace(report.findings[0], title=title, why=title)
    (case,) = cases_of(msgspec.structs.replace(report, findings=(finding,), unknown=()))
    assert case.result[0].message.endswith("]]><&\"'")


def test_the_program_prints_it_in_utf_8_whatever_the_locale(ncdiag_process: Run, project: Path, tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_bytes((project / "fixtures/cases/veth/nccl.log").read_bytes().replace(b"unreachable", "不可达".encode()))
    locale = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    done = ncdiag_process("parse", log, "--format", "junit", env=locale)
    assert done.returncode == 1
    assert "Network is 不可达" in done.stdout.decode("utf-8")
    assert failed(list(suite_of(done.stdout)))
