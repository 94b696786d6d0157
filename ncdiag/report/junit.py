"""The report as JUnit XML, which CI systems show as tests: findings at or above ``--fail-on`` are failed tests.

JUnit has no standard; the elements and attributes are those that Jenkins (junit-plugin), GitLab (unit test reports) and
junitparser read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple
from xml.etree import ElementTree as ET

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.severity import SEVERITIES, Severity
from ncdiag.report import digest
from ncdiag.report.in_short import shown, told
from ncdiag.report.levels import levels
from ncdiag.report.model import Finding, Look, Report
from ncdiag.report.sanitize import clean, one_line

_NOT_XML = lazy_regex("[\ufffe\uffff]")
"""Characters that XML 1.0 does not allow, besides control characters, which the sanitiser escapes."""
_SEVERITIES = {"FAIL": "error", "WARN": "warning"}


class Case(NamedTuple):
    """A test: ``outcome`` is the element for its result, empty if it passed."""

    group: str
    name: str
    outcome: str = ""
    kind: str = ""
    message: str = ""
    text: str = ""
    """The output of the test."""


def render(report: Report, *, fail_on: str = "error", **_: object) -> str:
    """One suite: a test for each check of the table, for each other finding, and for what was not judged."""
    cases = [*_cases(report, fail_on)]
    counts = {
        "tests": len(cases), "failures": sum(case.outcome == "failure" for case in cases),
        "errors": sum(case.outcome == "error" for case in cases),
        "skipped": sum(case.outcome == "skipped" for case in cases),
    }  # fmt: skip
    attributes = {"name": report.tool.name, **{name: str(count) for name, count in counts.items()}}
    suites = ET.Element("testsuites", attributes)
    suite = ET.SubElement(suites, "testsuite", attributes)
    properties = ET.SubElement(suite, "properties")
    for name, value in (("version", report.tool.version), ("verdict", report.summary.verdict)):
        ET.SubElement(properties, "property", {"name": name, "value": value})
    for case in cases:
        suite.append(_element(case))
    ET.indent(suites, " ")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ET.tostring(suites, encoding="unicode")}\n'


def _element(case: Case) -> ET.Element:
    element = ET.Element("testcase", {"classname": _attribute(f"ncdiag.{case.group}"), "name": _attribute(case.name)})
    if case.outcome:
        given = {"type": case.kind, "message": case.message}
        inner = ET.SubElement(element, case.outcome, {name: _attribute(text) for name, text in given.items() if text})
        inner.text = _text(case.text) or None
    elif case.text:
        ET.SubElement(element, "system-out").text = _text(case.text)
    return element


def _cases(report: Report, fail_on: str) -> Iterator[Case]:
    failing = SEVERITIES[: SEVERITIES.index(fail_on) + 1] if fail_on in SEVERITIES else ()
    by_name = {finding.name: finding for finding in reversed(report.findings)}
    for look in report.looks:
        yield _look(report, look, [by_name[name] for name in look.findings if name in by_name], failing)
    told_by_looks = {name for look in report.looks if look.status in _SEVERITIES for name in look.findings}
    found = levels(report)
    for place, finding in enumerate(report.findings):
        if finding.name not in told_by_looks:
            yield _finding(report, finding, found[place], failing)
    for unknown in report.unknown:
        yield Case("rules", f"{unknown.code} {unknown.name}", "skipped", message=digest.ask(unknown))
    for fault in report.faults:
        yield Case("itself", fault, "error", "fault", digest.failed(fault))
    if report.summary.verdict == "nothing-understood":
        yield Case("input", "understood", "error", "input", digest.headline(report), digest.HELP_WHEN_NOTHING)
    elif not report.looks and not report.findings:
        yield Case("input", "no fault found", text=digest.headline(report))


def _look(report: Report, look: Look, found: Sequence[Finding], failing: Sequence[Severity]) -> Case:
    """A check of a machine; its name is the same in each run, so that CI can compare them."""
    name = f"{look.what} on {look.host}" if look.host else look.what
    seen = "; ".join(filter(None, [look.seen, f"expected {look.expected}" if look.expected else ""]))
    if look.status == "SKIP":
        return Case(look.area, name, "skipped", message=look.why)
    severity = _SEVERITIES.get(look.status, "")
    text = "\n".join([seen, *(line for finding in found for line in _lines(report, finding))]).strip()
    if severity in failing:
        return Case(look.area, name, "failure", severity, look.why, text)
    return Case(look.area, name, text="\n".join(filter(None, [look.why if severity else "", text])))


def _finding(report: Report, finding: Finding, severity: Severity, failing: Sequence[Severity]) -> Case:
    """A test that fails if the finding stands for a cause; what the cause explains is the output of a passed one."""
    place = digest.where(finding, report)
    name = f"{finding.code} {finding.name}{f' on {place}' if place else ''}"
    text = "\n".join(_lines(report, finding))
    if severity in failing:
        return Case("rules", name, "failure", severity, finding.title, text)
    return Case("rules", name, text=text)


def _lines(report: Report, finding: Finding) -> Iterator[str]:
    yield f"{finding.severity}: {finding.title}"
    yield from told(report, finding)
    yield from shown(finding)


def _attribute(text: str) -> str:
    return _NOT_XML.sub("\ufffd", one_line(text))


def _text(text: str) -> str:
    return _NOT_XML.sub("\ufffd", clean(text))
