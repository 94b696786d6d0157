"""Metrics: the client's own parser reads every report, and no input makes their number grow without a bound."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from kept_reports import NAMES, load
from prometheus_client.parser import text_string_to_metric_families

from ncdiag.facts.fold import fold_hosts, unfold_hosts
from ncdiag.report import renderer
from ncdiag.report.model import Look, Report
from ncdiag.report.prometheus import HOSTS, SAMPLES

Run = Callable[..., subprocess.CompletedProcess[bytes]]
Samples = dict[str, list[tuple[dict[str, str], float]]]


def read(text: str) -> Samples:
    """Labels and value of each sample by metric; a sample is there once, without a time, and each metric is a gauge."""
    found: Samples = {}
    for family in text_string_to_metric_families(text):
        assert family.type == "gauge", family.name
        assert family.documentation
        assert family.name not in found
        found[family.name] = [(sample.labels, sample.value) for sample in family.samples]
        assert all(sample.timestamp is None for sample in family.samples), "the textfile collector refuses it"
        assert len({tuple(sorted(labels.items())) for labels, _ in found[family.name]}) == len(found[family.name])
    return found


def rendered(report: Report) -> Samples:
    return read(renderer("prometheus")(report, now=1700000000.25))


@pytest.mark.parametrize("name", NAMES)
def test_the_parser_reads_every_report(name: str) -> None:
    report = load(name)
    found = rendered(report)
    assert found["ncdiag_run_timestamp_seconds"] == [({}, 1700000000.25)]
    assert [labels["verdict"] for labels, value in found["ncdiag_verdict"] if value] == [report.summary.verdict]
    assert len(found["ncdiag_verdict"]) == 6
    counts = {labels["severity"]: value for labels, value in found["ncdiag_severity_findings"]}
    assert counts == {"error": report.summary.errors, "warning": report.summary.warnings, "info": report.summary.infos}
    told = {(labels["code"], labels["name"], labels["severity"]) for labels, _ in found["ncdiag_findings"]}
    assert told == {(finding.code, finding.name, finding.severity) for finding in report.findings}


def with_hosts(*hosts: list[str]) -> Report:
    report = load("veth")
    findings = tuple(
        msgspec.structs.replace(report.findings[0], hosts=fold_hosts(names), nhosts=len(names)) for names in hosts
    )
    return msgspec.structs.replace(report, findings=findings)


def hosts_of(report: Report) -> dict[str, float]:
    return {labels["host"]: value for labels, value in rendered(report)["ncdiag_findings"]}


@pytest.mark.parametrize(
    "names",
    [
        ["n1"], ["n1", "n2", "n10"], ["n08", "n09", "n10", "login"], ["gpu-1-a.example.org", "gpu-2-a.example.org"],
        ["10.0.0.1", "10.0.0.2"], ["fe80::1", "a"], [f"n{number}" for number in range(HOSTS)],
    ],
    ids=lambda names: f"{names[0]}-{len(names)}",
)  # fmt: skip
def test_each_host_has_a_sample(names: list[str]) -> None:
    assert sorted(unfold_hosts(fold_hosts(names))) == sorted(names)
    assert hosts_of(with_hosts(names)) == dict.fromkeys(names, 1)


def test_two_findings_of_a_rule_on_a_host_are_counted() -> None:
    assert hosts_of(with_hosts(["n1", "n2"], ["n1"])) == {"n1": 2, "n2": 1}


@pytest.mark.parametrize("names", [[], [f"n{number}" for number in range(HOSTS + 1)], ["a,b[", "c]"]])
def test_no_host_or_too_many_or_a_hostile_one_is_one_sample(names: list[str]) -> None:
    assert hosts_of(with_hosts(names)) == {"": 1}


def test_the_number_of_samples_has_a_bound() -> None:
    report = load("veth")
    findings = tuple(
        msgspec.structs.replace(report.findings[0], code=f"NCD{number}", hosts=f"n[1-{HOSTS}]", nhosts=HOSTS)
        for number in range(100)
    )
    samples = rendered(msgspec.structs.replace(report, findings=findings))["ncdiag_findings"]
    assert len(samples) == len(findings) < SAMPLES
    assert {labels["host"] for labels, _ in samples} == {""}


def test_a_range_that_is_no_host_list_ends() -> None:
    assert not [*unfold_hosts("n[1-999999999999]")]
    assert len([*unfold_hosts("n[1-999999999]", HOSTS)]) == HOSTS


@pytest.mark.parametrize("host", ['a"b', "a\\b", "a\nb", "a}b", "n1\x1b[2J"])
def test_a_name_of_a_host_forges_no_sample(host: str) -> None:
    report = load("veth")
    finding = msgspec.structs.replace(report.findings[0], hosts=host, nhosts=1)
    samples = rendered(msgspec.structs.replace(report, findings=(finding,)))["ncdiag_findings"]
    assert [value for _, value in samples] == [1]
    assert samples[0][0]["host"][0] == host[0]
    assert samples[0][0]["host"][-1] == host[-1]


def test_checks_are_counted() -> None:
    looks = tuple(Look(area="a", what="b", status=status) for status in ("PASS", "PASS", "SKIP"))
    checks = rendered(msgspec.structs.replace(load("healthy"), looks=looks))["ncdiag_checks"]
    assert {labels["status"]: value for labels, value in checks} == {"pass": 2, "warn": 0, "fail": 0, "skip": 1}


def test_the_file_of_the_collector_is_there_whole(ncdiag: Run, project: Path, tmp_path: Path) -> None:
    """The collector may read at any time: the file is another one after each run, and nothing else ends in .prom."""
    target = tmp_path / "ncdiag.prom"
    target.write_text("old")
    target.chmod(0o644)
    old = target.open()
    before = time.time()
    done = ncdiag("check", "--root", "fixtures/roots/roce8", "--format", "prometheus", "-o", target, cwd=project)
    assert done.returncode in {0, 1}
    assert done.stdout == b""
    assert old.read() == "old"
    old.close()
    assert [path.name for path in tmp_path.iterdir()] == ["ncdiag.prom"]
    assert target.stat().st_mode & 0o777 == 0o644
    found = read(target.read_text())
    assert before - 1 <= found["ncdiag_run_timestamp_seconds"][0][1] <= time.time() + 1
    assert sum(value for _, value in found["ncdiag_checks"]) > 5


def test_names_are_those_of_the_conventions() -> None:
    """Base units, and no suffix that belongs to counters."""
    for name in rendered(load("veth")):
        assert re.fullmatch(r"ncdiag(_[a-z]+)+", name)
        assert not name.endswith(("_total", "_count", "_sum", "_bucket"))
