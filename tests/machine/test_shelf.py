"""The shelf of machines: those that are well are met with silence, those with a planted fault with the right rule."""

from __future__ import annotations

from pathlib import Path

import pytest
from generate.machines import write
from generate.shelf import HEALTHY, PLANTED

import ncdiag
from ncdiag.report.model import Report


def alarms(report: Report) -> list[str]:
    """Findings that would send somebody looking."""
    assert report.faults == ()
    return [f"{found.name}: {found.title}" for found in report.findings if found.severity != "info"]


def rows(report: Report, *states: str) -> list[str]:
    """The names of findings that lines of the table in these states rest on, each once."""
    return [*dict.fromkeys(name for look in report.looks if look.status in states for name in look.findings)]


@pytest.mark.parametrize("name", HEALTHY)
def test_a_machine_that_is_well_is_silent(name: str, tmp_path: Path) -> None:
    report = ncdiag.check(write(tmp_path / "root", HEALTHY[name]))
    assert alarms(report) == []
    assert rows(report, "WARN", "FAIL") == []
    assert {look.status for look in report.looks} == {"PASS", "SKIP"}
    assert all(look.seen for look in report.looks if look.status == "PASS"), "PASS without anything seen"
    assert all(look.why for look in report.looks if look.status == "SKIP"), "SKIP without a reason"


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_fault_is_the_one_thing_found(name: str, tmp_path: Path) -> None:
    planted = PLANTED[name]
    report = ncdiag.check(write(tmp_path / "root", planted.machine))
    assert [alarm.partition(":")[0] for alarm in alarms(report)] == [planted.found]
    assert rows(report, "WARN", "FAIL") == [planted.found]
