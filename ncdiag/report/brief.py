"""One line per finding, as ``--brief`` prints it: severity, code, name, place, title; suspects after the findings."""

from __future__ import annotations

from ncdiag.language import say
from ncdiag.report import digest
from ncdiag.report.model import Report
from ncdiag.report.page import COLOURS, Page


def lay_out(page: Page, report: Report) -> None:
    """Put a line for each finding that no other explains and for each suspect; without any, the verdict."""
    found = digest.roots(report)
    for finding in found:
        what, where = f"{finding.code} {finding.name}", digest.where(finding, report)
        what = say("{finding} on {where}", finding=what, where=where) if where else what
        text = say("{label}: {text}", label=what, text=finding.title)
        page.line(say("{label}: {text}", label=say(finding.severity), text=text), COLOURS[finding.severity])
    for suspect in report.suspects:
        text = say("{label}: {text}", label=f"{suspect.code} {suspect.name}", text=suspect.title)
        page.line(say("{label}: {text}", label=say(suspect.likelihood), text=text))
    if not found and not report.suspects:
        page.line(digest.headline(report))
    for fault in report.faults:
        page.line(say("{label}: {text}", label=say("ncdiag failed"), text=fault), "bold")
