"""How grave each finding is where one line stands for one cause: in CI systems and in monitoring."""

from __future__ import annotations

from collections.abc import Mapping

from ncdiag.base.severity import SEVERITIES, Severity
from ncdiag.report.digest import consequences, roots
from ncdiag.report.model import Finding, Report

_FLOOR = "failure-reported"
"""The rule that repeats a line of the log about which no other rule says more."""


def levels(report: Report) -> Mapping[int, Severity]:
    """The severity of each finding, by its index: one error for one cause.

    A cause is as grave as the worst that it explains. What it explains is a note, and so is another finding of the same
    rule, and a line that only repeats that something failed.
    """
    found: dict[int, Severity] = {}
    leading: dict[str, int] = {}
    places = {id(finding): place for place, finding in enumerate(report.findings)}
    for finding in roots(report):
        place = places[id(finding)]
        first = leading.setdefault(finding.code, place)
        told = finding.name == _FLOOR and any(level == "error" for level in found.values())
        if first == place and not told:
            found[place] = _worst([finding, *consequences(report, finding)])
            continue
        found[place] = "info"
        if first != place:
            found[first] = min(found[first], finding.severity, key=SEVERITIES.index)
    return {place: found.get(place, "info") for place in range(len(report.findings))}


def _worst(findings: list[Finding]) -> Severity:
    return min((finding.severity for finding in findings), key=SEVERITIES.index)
