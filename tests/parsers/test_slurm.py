"""States of jobs and steps, as Slurm's accounting and scontrol print them."""

from __future__ import annotations

import pytest

from ncdiag.diagnose import diagnose
from ncdiag.parsers import _slurm
from ncdiag.text.sources.files import TextSource

STATES = {
    "NODE_FAIL": "node-failed", "BOOT_FAIL": "node-failed", "OUT_OF_MEMORY": "container-oom-killed",
    "OUT_OF_ME+": "container-oom-killed", "TIMEOUT": "job-cancelled", "DEADLINE": "job-cancelled",
    "PREEMPTED": "job-cancelled", "CANCELLED": "job-cancelled", "CANCELLED by 1000": "job-cancelled",
    "CANCELLED+": "job-cancelled", "FAILED": "process-exit", "REVOKED": "job-cancelled",
}  # fmt: skip
FORMS = (
    "4412              train  {}      1:0",
    "4412.batch        batch      gpu   acct    64  {}      0:9",
    "4412|train|gpu|acct|64|{}|1:0|",
)
HARMLESS = (
    "4412              train  COMPLETED      0:0", "4412              train    RUNNING      0:0",
    "4412|train|gpu|acct|64|PENDING|0:0|", "JobState=RUNNING Reason=None Dependency=(null)",
    "JobState=COMPLETED Reason=None ExitCode=0:0", "12 tests FAILED", "epoch 3 TIMEOUT=30 step 4:0",
)  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("state", STATES)
def test_a_state_is_its_event(form: str, state: str) -> None:
    found = _slurm.find(form.format(state))
    assert found is not None
    assert found.event == STATES[state]


def test_the_fields_of_scontrol() -> None:
    for state in ("NODE_FAIL", "OUT_OF_MEMORY", "TIMEOUT", "FAILED"):
        found = _slurm.find(f"   JobState={state} Reason=None Dependency=(null) ExitCode=1:0")
        assert found is not None
        assert found.event == STATES[state]


@pytest.mark.parametrize("line", HARMLESS)
def test_what_did_not_fail(line: str) -> None:
    assert _slurm.find(line) is None


@pytest.mark.parametrize("state", STATES)
def test_every_end_is_answered(state: str) -> None:
    text = f"JobID           JobName      State ExitCode\n{FORMS[0].format(state)}\n"
    report = diagnose([TextSource.of_bytes("sacct", text.encode())])
    assert [finding.name for finding in report.findings if finding.severity != "info"]
