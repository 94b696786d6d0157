"""The hand-built reports under fixtures/reports, which the tests of all formats render."""

from __future__ import annotations

from pathlib import Path

import msgspec

from ncdiag.report.model import Report

REPORTS = Path(__file__).resolve().parents[1] / "fixtures" / "reports"
NAMES = sorted(path.name.removesuffix(".report.json") for path in REPORTS.glob("*.report.json"))


def load(name: str) -> Report:
    """The report kept as ``<name>.report.json``; strict, so that the fixtures follow the model."""
    return msgspec.json.decode((REPORTS / f"{name}.report.json").read_bytes(), type=Report)
