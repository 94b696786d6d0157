"""No failure is met with silence and no healthy job with alarm: shares of real and of hand-made inputs.

The inputs lie among the shared specimens: what auditors wrote (``audit``), and logs of jobs that completed (``wild``).
Single names are not listed here: shares keep the rules from being fitted to single inputs.
"""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

import pytest

from ncdiag.diagnose import diagnose
from ncdiag.report.model import Report
from ncdiag.text.sources.files import TextSource

AUDITS = ("network", "gpu")
EVERY = 6
"""Of the logs of completed jobs, so many times fewer are read: they are long."""
ENOUGH, ENOUGH_COMPLETED = 0.95, 0.97


def is_alarmed(report: Report) -> bool:
    """True if the report sends somebody looking, or claims to know why something failed."""
    return any(f.severity == "error" or (f.severity != "info" and f.role == "cause") for f in report.findings)


def is_silent(report: Report) -> bool:
    """True if nothing in the report answers a person whose job failed."""
    return not report.complaints and all(finding.severity == "info" for finding in report.findings)


@pytest.mark.parametrize("state", ["healthy", "faulty"])
def test_what_auditors_wrote(state: str, shared: Path) -> None:
    wrong, total = 0, 0
    for folder in (shared / "audit" / audit for audit in AUDITS):
        inputs = json.loads((folder / "index.json").read_text(encoding="utf-8"))["inputs"]
        for file in (folder / entry["file"] for entry in inputs if entry["state"] == state):
            report = diagnose([TextSource.of_bytes(file.name, file.read_bytes())])
            wrong += is_alarmed(report) if state == "healthy" else is_silent(report)
            total += 1
    assert wrong <= (1 - ENOUGH) * total, f"{wrong} of {total}"


def test_completed_jobs_are_left_in_peace(shared: Path) -> None:
    with tarfile.open(shared / "wild" / "jobs.tar.xz") as archive:
        held = {member.name: archive.extractfile(member) for member in archive.getmembers() if member.isfile()}
        read = {name: reader.read() for name, reader in held.items() if reader is not None}
    index = next(json.loads(data) for name, data in read.items() if name.endswith("jobs.json"))
    files = [entry["file"] for entry in index["files"] if entry["state"].startswith("mlperf-result")][::EVERY]
    data = {Path(name).name: content for name, content in read.items()}
    reports = [diagnose([TextSource.of_bytes(file, data[Path(file).name])]) for file in files]
    assert len(reports) > 40
    assert sum(map(is_alarmed, reports)) <= (1 - ENOUGH_COMPLETED) * len(reports)
