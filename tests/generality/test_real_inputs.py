"""No failure is met with silence and no healthy job with alarm: shares of real and of hand-made inputs.

The inputs lie among the shared specimens: what auditors wrote (``audit``), and logs of jobs that completed (``wild``).
Single names are not listed here: shares keep the rules from being fitted to single inputs.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from shared_texts import HEALTHY, answer, audited, completed

from ncdiag.report.model import Report

ENOUGH, ENOUGH_COMPLETED = 0.95, 0.97


def is_alarmed(report: Report) -> bool:
    """True if the report sends somebody looking, or claims to know why something failed."""
    return any(f.severity == "error" or (f.severity != "info" and f.role == "cause") for f in report.findings)


def is_silent(report: Report) -> bool:
    """True if nothing in the report answers a person whose job failed."""
    return not report.complaints and all(finding.severity == "info" for finding in report.findings)


@HEALTHY
@pytest.mark.parametrize("state", ["healthy", "faulty"])
def test_what_auditors_wrote(state: str, shared: Path) -> None:
    is_wrong = is_alarmed if state == "healthy" else is_silent
    inputs = audited(shared, state)
    wrong = [path.name for path in inputs if is_wrong(answer(path).report)]
    assert len(wrong) <= (1 - ENOUGH) * len(inputs), wrong


@HEALTHY
def test_completed_jobs_are_left_in_peace(shared: Path) -> None:
    reports = {name: found.report for name, found in completed(shared).items()}
    alarmed = [name for name, report in reports.items() if is_alarmed(report)]
    assert len(reports) > 40
    assert len(alarmed) <= (1 - ENOUGH_COMPLETED) * len(reports), alarmed
