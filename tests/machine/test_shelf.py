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


@pytest.mark.parametrize("name", HEALTHY)
def test_a_machine_that_is_well_is_silent(name: str, tmp_path: Path) -> None:
    assert alarms(ncdiag.check(write(tmp_path / "root", HEALTHY[name]))) == []


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_fault_is_the_one_thing_found(name: str, tmp_path: Path) -> None:
    planted = PLANTED[name]
    found = alarms(ncdiag.check(write(tmp_path / "root", planted.machine)))
    assert [alarm.partition(":")[0] for alarm in found] == [planted.found]
