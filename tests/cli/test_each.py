"""Many jobs at once: each judged by itself, a line a job, the worst first."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from ncdiag.report.model import Report, Summary, Tool
from ncdiag.report.overview import as_text

Ncdiag = Callable[..., "subprocess.CompletedProcess[bytes]"]
FAILED = "RuntimeError: NCCL error in: x.cpp:7, unhandled system error\nnode1:1:1 [0] NCCL WARN Call to connect to 10.0.0.9<4000> failed : Connection refused\n"  # noqa: E501
HEALTHY = "node{0}:1:1 [0] NCCL INFO comm 0x5d0 rank 0 nranks 1 cudaDev 0 busId 1b000 - Init COMPLETE\n"


@pytest.fixture
def jobs(tmp_path: Path) -> Path:
    (tmp_path / "inner").mkdir()
    for number in range(5):
        (tmp_path / f"job{number}.log").write_text(HEALTHY.format(number))
    (tmp_path / "inner" / "bad.log").write_text(FAILED)
    return tmp_path


def test_a_line_a_job_and_the_worst_first(jobs: Path, ncdiag: Ncdiag) -> None:
    done = ncdiag("parse", "--each", jobs)
    lines = done.stdout.decode().splitlines()
    assert done.returncode == 1, done.stderr
    assert [line.split()[0] for line in lines[:6]] == ["inner/bad.log", *(f"job{number}.log" for number in range(5))]
    assert lines[-1].startswith("6 jobs: ")


def test_on_a_terminal_lines_are_cut_and_names_can_be_told_apart() -> None:
    report = Report(tool=Tool(name="ncdiag", version="1"), summary=Summary(verdict="healthy-as-far-as-seen"))
    names = [f"runs/{first}{'x' * 90}{last}.log" for first in "ab" for last in "cd"]
    lines = as_text([(name, report) for name in names], 80).splitlines()[:4]
    assert max(map(len, lines)) <= 80
    assert len({line.split()[0] for line in lines}) == 4


def test_each_report_is_what_the_job_alone_gives(jobs: Path, ncdiag: Ncdiag) -> None:
    held = json.loads(ncdiag("parse", "--each", "--format", "json", jobs).stdout)["jobs"]
    assert len(held) == 6
    for job in held:
        alone = json.loads(ncdiag("parse", "--format", "json", job["name"]).stdout)
        assert job["report"] == alone


def test_healthy_jobs_end_with_zero_and_nothing_with_three(jobs: Path, ncdiag: Ncdiag, tmp_path: Path) -> None:
    assert ncdiag("parse", "--each", *sorted(jobs.glob("job*.log"))).returncode == 0
    empty = tmp_path / "empty.log"
    empty.write_text("hello\n")
    assert ncdiag("parse", "--each", empty).returncode == 3


def test_what_cannot_be_read_is_said_and_the_others_are_judged(jobs: Path, ncdiag: Ncdiag) -> None:
    done = ncdiag("parse", "--each", jobs / "none.log", jobs / "job0.log", "--format", "markdown")
    assert b"none.log" in done.stderr
    assert "job0.log" in done.stdout.decode()


def test_a_format_that_is_none_is_refused(jobs: Path, ncdiag: Ncdiag) -> None:
    assert ncdiag("parse", "--each", "--format", "xyz", jobs).returncode == 2
