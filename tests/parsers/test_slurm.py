"""States of jobs and steps, as Slurm's accounting and scontrol print them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from ncdiag.diagnose import diagnose
from ncdiag.parsers import _slurm
from ncdiag.text.reading.job import job_of
from ncdiag.text.reading.one import read_source
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
    "4412.batch        batch  COMPLETED      0:0", "4412              train    RUNNING      0:0",
    "4412              train  COMPLETED      0:9", "16 tasks COMPLETED in 4:10", "3 of 4 tasks COMPLETED",
    "3 COMPLETED",
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


@pytest.mark.parametrize("line", ["4412              train  COMPLETED      0:0", "4412|COMPLETED|", "4412  COMPLETED"])
def test_a_job_that_completed_is_a_fact(line: str) -> None:
    found = _slurm.find(line)
    assert found is not None
    assert (found.event, found.kind) == ("slurm-job-completed", "fact")


OUT = {
    "Kill task failed     root      2026-03-02T11:04:51 gpu[07,12]": ("Kill task failed", "gpu[07,12]"),
    "   NHC: check_hw_ib ran root      2026-03-02T11:04:51 gpu07": ("NHC: check_hw_ib ran", "gpu07"),
    "Low RealMemory       root(0)      2026-03-02T11:04:51 drain* n1,n[3-4]": ("Low RealMemory", "n1,n[3-4]"),
}
NOT_OUT = (
    "REASON               USER      TIMESTAMP           NODELIST",
    "job restarted by root 2026-03-02T11:04:51 gpu07",
    "Kill task failed root 2026-03-02T11:04:51 gpu07",
    "checkpoint saved on the shared disk ada 2026-03-02T11:04:51 step100",
    "Kill task failed     root      2026-03-02T11:04:51 everywhere",
    "Kill task failed     root      2026-03-02T11:04:51 gpu07 was restarted",
    "Kill task failed     root      on Monday           gpu07",
    "RAID rebuild, RMA 12 ops       2026-03-02T11:04:51 gpu07",
    "replaced cable 4     ops       2026-03-02T11:04:51 gpu07",
    "hw: case 12          ops       2026-03-02T11:04:51 gpu07",
    "reserved until June  ops       2026-03-02T11:04:51 gpu07",
    "waiting for vendor   ops       2026-03-02T11:04:51 gpu07",
    "testing a new kernel ops       2026-03-02T11:04:51 gpu07",
    "to be decommissioned ops       2026-03-02T11:04:51 gpu07",
)


@pytest.mark.parametrize("line", OUT)
def test_a_row_of_nodes_out_of_service(line: str) -> None:
    found = _slurm.find(line)
    assert found is not None
    assert (found.event, found.fields["node_reason"], found.fields["node_list"]) == ("slurm-node-out", *OUT[line])


@pytest.mark.parametrize("line", NOT_OUT)
def test_what_takes_no_node_out_of_service(line: str) -> None:
    assert _slurm.find(line) is None


WAITS = (
    "  4412       gpu    train      ada PD       0:00      8 (QOSMaxGRESPerUser)",
    "  4412       gpu    train      ada  PENDING       0:00 2-00:00:00      8 (ReqNodeNotAvail, UnavailableNodes:n1)",
)
NOT_WAITS = (
    "The status of the job is PD since Monday (AssocGrpGRES is what the help desk says)",
    "  PD tests run for 2 of 8 hosts (Every other host is skipped)",
    "  4412       gpu    train      ada PD       0:00      (QOSMaxGRESPerUser)",
    "  4412       gpu    train      ada PD       8 (QOSMaxGRESPerUser)",
    "  4412       gpu    train      ada PD       0:00      8 (QOSMaxGRESPerUser) and so on",
)


@pytest.mark.parametrize("line", WAITS)
def test_a_job_that_waits(line: str) -> None:
    found = _slurm.find(line)
    assert found is not None
    assert found.event == "slurm-job-waits"


@pytest.mark.parametrize("line", NOT_WAITS)
def test_what_is_no_row_of_a_queue(line: str) -> None:
    assert _slurm.find(line) is None


def test_rows_give_the_job_and_its_user() -> None:
    waits = _slurm.find("  4412_[2-9%1]       gpu    train      ada PD       0:00      8 (QOSMaxGRESPerUser)")
    runs = _slurm.find("  4412_1       gpu    train      ada  R       0:10      8 gpu[01-08]")
    for found in (waits, runs):
        assert found is not None
        assert (found.fields["step"], found.fields["user"]) == ("4412", "ada")


def test_one_event_holds_all_jobs_that_completed() -> None:
    rows = "".join(f"{number}          eval       gpu       acct   8  COMPLETED   0:0\n" for number in (7, 8, 9))
    job = job_of([read_source(TextSource.of_bytes("sacct", rows.encode()))])
    assert [(event.count, event.fields["step"]) for event in job.events] == [(3, "7 8 9")]


COLUMNS = ("4{}", "gpu", "train", "ada", "PENDING", "0:00", "8", "(QOSMaxGRESPerUser)")
RUNS = ("4{}", "gpu", "train", "ada", "RUNNING", "1:10:00", "8", "gpu[01-08]")


@pytest.mark.parametrize("cells", [COLUMNS, RUNS])
@pytest.mark.parametrize("form", ["\t".join, lambda row: "".join(f"{cell:<20}" for cell in row), "   ".join])
def test_no_row_of_a_long_queue_is_lost(cells: tuple[str, ...], form: Callable[[Iterable[str]], str]) -> None:
    """Rows of one width look like a line that was broken there. ``-O`` pads each column to 20 characters."""
    rows = [form([cells[0].format(f"{(number * 37) % 1000:03}"), *cells[1:]]) for number in range(1, 13)]
    job = job_of([read_source(TextSource.of_bytes("squeue", "\n".join(rows).encode()))])
    assert len(job.events) == len(rows)
