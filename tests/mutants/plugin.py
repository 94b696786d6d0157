"""A plugin of pytest that notes which test runs which lines of the package, and the seconds of each test.

It is loaded by `mutants.run` in a run that coverage.py measures (COVERAGE_PROCESS_START). A process that a test starts
belongs to the test by PYTEST_CURRENT_TEST, which the configuration makes its context.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import coverage
import pytest


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    measured = coverage.Coverage.current()
    if measured is not None:
        measured.switch_context(item.nodeid)
    yield
    if measured is not None:
        measured.switch_context("")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    folder = os.environ.get("NCDIAG_MUTANTS")
    if folder:
        with (Path(folder) / f"seconds-{os.getpid()}.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps([report.nodeid, report.duration, report.outcome]) + "\n")
