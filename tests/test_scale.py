"""Large generated jobs: every planted fault is found on its host, and the work grows with the ranks, not faster."""

from __future__ import annotations

from time import process_time

import pytest
from generate import large as generator

from ncdiag.diagnose import diagnose
from ncdiag.report import renderer
from ncdiag.sources.files import TextSource

RULES = {
    "veth": "socket-virtual-ifname", "version": "version-nccl-mismatch", "gdr": "gdr-disabled-for-hca",
    "gid": "roce-gid-link-local",
}  # fmt: skip


def log_of(job) -> bytes:  # noqa: ANN001
    return "".join(line + "\n" for line in generator.lines(job)).encode()


@pytest.mark.parametrize("fault", RULES)
def test_a_fault_of_one_host_of_many_is_found_there(fault: str) -> None:
    job = generator.large("2.27.7", "roce", nodes=24, faults=(fault,), seed=5)
    report = diagnose([TextSource.of_bytes("job.log", log_of(job))])
    named = {finding.name: finding for finding in report.findings}
    assert RULES[fault] in named
    assert job.name(fault) in named[RULES[fault]].hosts + named[RULES[fault]].title


def test_without_a_fault_a_large_job_is_silent() -> None:
    report = diagnose([TextSource.of_bytes("job.log", log_of(generator.large("2.21.5", "ib", nodes=24)))])
    assert [f.name for f in report.findings if f.severity != "info"] == []


def test_the_same_seed_gives_the_same_log() -> None:
    one, same, other = (generator.large("2.24.3", "roce", 6, faults=generator.FAULTS, seed=seed) for seed in (1, 1, 2))
    assert log_of(one) == log_of(same) != log_of(other)


def test_a_missing_rank_prints_nothing_and_nobody_completes() -> None:
    job = generator.large("2.27.7", "roce", nodes=4, faults=("missing",))
    report = diagnose([TextSource.of_bytes("job.log", log_of(job))])
    assert report.summary.nranks == 32
    assert b" rank %d " % job.missing_rank not in log_of(job)
    assert b"Init COMPLETE" not in log_of(job)


def test_eight_times_the_ranks_is_no_more_than_twenty_times_the_work() -> None:
    seconds, lines = [], []
    for nodes in (16, 128):
        data = log_of(generator.large("2.27.7", "roce", nodes, faults=generator.FAULTS))
        diagnose([TextSource.of_bytes("job.log", data[: len(data) // 8])])
        begin = process_time()
        report = diagnose([TextSource.of_bytes("job.log", data)])
        seconds.append(process_time() - begin)
        lines.append(renderer("text")(report, width=100, colour=False).count("\n"))
    assert seconds[1] < 20 * seconds[0]
    assert lines[1] <= lines[0] + 15
