"""Large generated jobs: every planted fault is found on its host, and the work grows with the ranks, not faster."""

from __future__ import annotations

import functools
from collections.abc import Iterator

import msgspec
import pytest
from generate import large as generator
from generate.fleet import ODDITIES, fleet
from linear import assert_linear

from ncdiag.diagnose import Options, diagnose, view_of
from ncdiag.engine.fields import derived_field
from ncdiag.engine.kinds import derived_fields
from ncdiag.facts.model import Event, Host, Job
from ncdiag.facts.view import View
from ncdiag.report import renderer
from ncdiag.report.model import Report
from ncdiag.text.reading.many import read_all
from ncdiag.text.sources.files import TextSource

RULES: dict[generator.Fault, str] = {
    "veth": "socket-virtual-ifname", "version": "version-nccl-mismatch", "gdr": "gdr-disabled-for-hca",
    "gid": "roce-gid-link-local",
}  # fmt: skip


def log_of(job: generator.Large) -> bytes:
    return "".join(line + "\n" for line in generator.lines(job)).encode()


@pytest.mark.parametrize("fault", RULES)
def test_a_fault_of_one_host_of_many_is_found_there(fault: generator.Fault) -> None:
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
    assert job.missing_rank is not None
    assert b" rank %d " % job.missing_rank not in log_of(job)
    assert b"Init COMPLETE" not in log_of(job)


def faulty_log(nodes: int) -> bytes:
    return log_of(generator.large("2.27.7", "roce", nodes, faults=generator.FAULTS))


def judged(log: bytes) -> Report:
    return diagnose([TextSource.of_bytes("job.log", log)])


def test_the_work_grows_with_the_ranks() -> None:
    assert_linear(judged, faulty_log, 8)


@functools.cache
def faulty_job(nodes: int) -> Job:
    return view_of(read_all([TextSource.of_bytes("job.log", faulty_log(nodes))]).job()).job


class Counted(tuple[Event, ...]):
    """Events that count how often somebody goes over all of them."""

    __slots__ = ()
    times = 0

    def __iter__(self) -> Iterator[Event]:
        Counted.times += 1
        return super().__iter__()


@pytest.mark.parametrize("name", sorted(derived_fields(Host)))
def test_a_derived_fact_does_not_search_all_events_for_each_host(name: str) -> None:
    field = derived_field(Host, name)
    assert field is not None
    found = []
    for nodes in (8, 32):
        job = faulty_job(nodes)
        view, Counted.times = View(msgspec.structs.replace(job, events=Counted(job.events))), 0
        for host in job.hosts:
            view.computed(host, field)
        found.append(Counted.times)
    few, many = found
    assert few == many


def test_the_report_does_not_grow_with_the_ranks() -> None:
    few, many = (renderer("text")(judged(faulty_log(nodes)), width=100, colour=False) for nodes in (16, 128))
    assert many.count("\n") <= few.count("\n") + 15


def test_a_check_grows_with_the_hosts() -> None:
    """A rule that looks at each two hosts would fail: eight times as many hosts are 64 times as many pairs."""
    assert_linear(lambda hosts: diagnose(hosts, Options(table=True)), lambda size: fleet(size, *ODDITIES), 16)
