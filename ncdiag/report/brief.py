"""A line a finding, as ``--brief`` prints it: severity, code, name, where, what; suspects after the findings."""

from __future__ import annotations

from ncdiag.report import digest
from ncdiag.report.model import Report
from ncdiag.report.page import COLOURS, Page


def lay_out(page: Page, report: Report) -> None:
    """Put a line for each finding that nothing else explains and for each suspect; without any, the verdict."""
    found = digest.roots(report)
    for finding in found:
        where = digest.where(finding)
        text = f"{finding.severity}: {finding.code} {finding.name}{f' on {where}' if where else ''}: {finding.title}"
        page.line(text, COLOURS[finding.severity])
    for suspect in report.suspects:
        page.line(f"{suspect.likelihood}: {suspect.code} {suspect.name}: {suspect.title}")
    if not found and not report.suspects:
        page.line(digest.headline(report))
    for fault in report.faults:
        page.line(f"ncdiag failed: {fault}", "bold")
