"""SARIF: the schema of OASIS takes every report, and results lead to rules, files and lines."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import jsonschema
import msgspec
import pytest
from kept_reports import NAMES, load

from ncdiag.report import renderer
from ncdiag.report.levels import levels
from ncdiag.report.model import Evidence, Input, Report, Sign, Suspect

Run = Callable[..., subprocess.CompletedProcess[bytes]]
SUSPECT = Suspect(
    "NCD101", "socket-virtual-ifname", "The ranks meet over a virtual interface", "likely",
    supporting=(Sign("it hangs", "weak", (Evidence("a b.log", 3, "hangs"),)),),
)  # fmt: skip


def run_of(report: Report) -> dict[str, Any]:
    """The one run of the log."""
    log = json.loads(renderer("sarif")(report))
    (run,) = log["runs"]
    assert isinstance(run, dict)
    return run


@pytest.mark.parametrize("name", NAMES)
def test_the_schema_takes_every_report(name: str, sarif_schema: dict[str, Any]) -> None:
    report = load(name)
    more = msgspec.structs.replace(
        report, suspects=(SUSPECT,), faults=("a rule (KeyError)",), inputs=(*report.inputs, Input("x", notes=("cut",)))
    )
    for each in (report, more):
        jsonschema.Draft4Validator(sarif_schema).validate(json.loads(renderer("sarif")(each)))


def test_the_schema_takes_what_the_program_prints(
    ncdiag_process: Run, project: Path, sarif_schema: dict[str, Any]
) -> None:
    for arguments in (["parse", "fixtures/cases/veth/nccl.log"], ["check", "--root", "fixtures/roots/ib-initializing"]):
        done = ncdiag_process(*arguments, "--format", "sarif", cwd=project, env={"LC_ALL": "C"})
        assert done.returncode == 1
        log = json.loads(done.stdout)
        jsonschema.Draft4Validator(sarif_schema).validate(log)
        assert log["runs"][0]["results"]


def test_the_schema_refuses_what_is_wrong(sarif_schema: dict[str, Any]) -> None:
    log = json.loads(renderer("sarif")(load("veth")))
    log["runs"][0]["results"][0]["level"] = "info"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft4Validator(sarif_schema).validate(log)


@pytest.mark.parametrize("name", NAMES)
def test_results_lead_to_rules_files_and_lines(name: str) -> None:
    report = load(name)
    run = run_of(report)
    rules = run["tool"]["driver"]["rules"]
    assert len(run["results"]) == len(report.findings)
    for result, finding, severity in zip(run["results"], report.findings, levels(report).values(), strict=True):
        rule = rules[result["ruleIndex"]]
        assert (rule["id"], result["ruleId"], rule["name"]) == (finding.code, finding.code, finding.name)
        assert result["level"] == {"info": "note"}.get(severity, severity)
        lines = [
            place["physicalLocation"]["region"]["startLine"]
            for place in result["locations"] if "region" in place["physicalLocation"]
        ]  # fmt: skip
        assert lines == [item.line for item in finding.evidence if item.line]
        assert result["locations"], "GitHub shows no result without a place"


@pytest.mark.parametrize(
    ("source", "address"),
    [
        ("logs/rank 0.log", "logs/rank%200.log"), ("/var/log/a#b", "file:///var/log/a%23b"),
        ("a.tar.gz:b/c.log", "a.tar.gz%3Ab/c.log"), ("日志.log", "%E6%97%A5%E5%BF%97.log"), ("stdin", "stdin"),
    ],
)  # fmt: skip
def test_a_source_becomes_an_address(source: str, address: str) -> None:
    report = load("veth")
    finding = msgspec.structs.replace(report.findings[0], evidence=(Evidence(source, 1, "x"),))
    found = run_of(msgspec.structs.replace(report, findings=(finding,)))
    uri = found["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == address
    parts = urlsplit(uri)
    assert parts.scheme in {"", "file"}
    assert unquote(parts.path) == source


def test_help_comes_from_the_rule_book_and_its_address_is_one() -> None:
    (rule,) = [rule for rule in run_of(load("veth"))["tool"]["driver"]["rules"] if rule["id"] == "NCD101"]
    assert "Not a fault: " in rule["help"]["text"]
    assert rule["properties"]["tags"] == ["socket"]
    report = load("veth")
    references = ("NVIDIA/nccl v2.30.7-1 src/misc/socket.cc:190",)
    finding = msgspec.structs.replace(report.findings[0], references=references)
    (bare,) = run_of(msgspec.structs.replace(report, findings=(finding,)))["tool"]["driver"]["rules"]
    assert "helpUri" not in bare
    linked = msgspec.structs.replace(finding, references=(*references, "https://example.com/a b"))
    (rule,) = run_of(msgspec.structs.replace(report, findings=(linked,)))["tool"]["driver"]["rules"]
    assert rule["helpUri"] == "https://example.com/a%20b"


def test_no_template_of_a_rule_is_printed(ncdiag: Run, project: Path) -> None:
    done = ncdiag("parse", "fixtures/cases/veth/nccl.log", "--format", "sarif", cwd=project)
    rules = json.loads(done.stdout)["runs"][0]["tool"]["driver"]["rules"]
    assert "NCD001" in {rule["id"] for rule in rules}, "its reason is filled in from the input"
    assert not [rule["id"] for rule in rules if "{" in rule["fullDescription"]["text"]]


def test_a_fingerprint_is_that_of_the_fault_not_of_the_line() -> None:
    report = load("veth")
    first = report.findings[0]
    moved = msgspec.structs.replace(first, evidence=(Evidence("other.log", 99, "x"),))
    elsewhere = msgspec.structs.replace(first, hosts="another-host")
    prints = [
        run_of(msgspec.structs.replace(report, findings=(each,)))["results"][0]["partialFingerprints"]
        for each in (first, moved, elsewhere)
    ]
    assert prints[0] == prints[1] != prints[2]


def test_a_suspect_is_for_review() -> None:
    results = run_of(msgspec.structs.replace(load("nothing"), suspects=(SUSPECT,)))["results"]
    (found,) = [result for result in results if result.get("kind") == "review"]
    assert (found["level"], found["ruleId"]) == ("none", "NCD101")
    assert found["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "a%20b.log"


def test_what_ncdiag_failed_at_is_told() -> None:
    run = run_of(msgspec.structs.replace(load("healthy"), faults=("a rule (KeyError at x.py:3)",)))
    (invocation,) = run["invocations"]
    assert not invocation["executionSuccessful"]
    assert "KeyError" in invocation["toolExecutionNotifications"][0]["message"]["text"]
    assert run_of(load("healthy"))["invocations"][0]["executionSuccessful"]
