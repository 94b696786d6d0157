"""Annotations of GitHub: read back as its runner reads them, whatever the texts hold."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from kept_reports import NAMES, load

from ncdiag.report import renderer
from ncdiag.report.github import command
from ncdiag.report.levels import levels
from ncdiag.report.sanitize import one_line

COMMAND = re.compile(r"::(\w+) ?([^:]*)::(.*)")
PROPERTIES = {"%3A": ":", "%2C": ",", "%0D": "\r", "%0A": "\n", "%25": "%"}
DATA = {"%0D": "\r", "%0A": "\n", "%25": "%"}


def unescaped(text: str, escapes: dict[str, str]) -> str:
    """As ActionCommand of actions/runner does it: one escape after the other, ``%25`` last."""
    for escape, character in escapes.items():
        text = text.replace(escape, character)
    return text


def read(line: str) -> tuple[str, dict[str, str], str]:
    """Level, properties and message of a workflow command."""
    found = COMMAND.fullmatch(line)
    assert found, line
    pairs = (pair.partition("=") for pair in found[2].split(",") if pair)
    return found[1], {name: unescaped(value, PROPERTIES) for name, _, value in pairs}, unescaped(found[3], DATA)


@pytest.mark.parametrize("name", NAMES)
def test_each_finding_is_one_command(name: str) -> None:
    report = load(name)
    read_back = [read(line) for line in renderer("github")(report).splitlines()]
    assert len(read_back) >= max(1, len(report.findings))
    found = levels(report)
    for place, ((level, properties, message), finding) in enumerate(zip(read_back, report.findings, strict=False)):
        expected = found[place]
        assert level == {"info": "notice"}.get(expected, expected)
        assert properties["title"] == f"{finding.code} {finding.name}"
        assert message.startswith(one_line(finding.title.splitlines()[0]))
        shown = [(one_line(item.source), str(item.line)) for item in finding.evidence if item.line]
        assert [(properties[key], properties["line"]) for key in ("file",) if key in properties] == shown[:1]


def test_what_is_special_comes_back() -> None:
    line = command("error", "50% of\r\nranks: a,b", title="x:y,z", file="a:b,c%.log", line=3, column=7)
    assert read(line) == (
        "error", {"file": "a:b,c%.log", "line": "3", "col": "7", "title": "x:y,z"}, "50% of\r\nranks: a,b",
    )  # fmt: skip


def test_a_text_begins_no_command_of_its_own() -> None:
    report = load("veth")
    finding = msgspec.structs.replace(report.findings[0], title="a\n::set-output name=x::y")
    for line in renderer("github")(msgspec.structs.replace(report, findings=(finding,))).splitlines():
        assert read(line)[0] == "error"


def test_silence_is_no_answer() -> None:
    assert read(renderer("github")(load("nothing")).splitlines()[-1])[0] == "warning"
    healthy = msgspec.structs.replace(load("healthy"), findings=())
    assert read(renderer("github")(healthy).strip())[::2] == ("notice", "No fault found in this input")


def test_what_a_cause_explains_is_a_notice() -> None:
    report = load("veth")
    cause = msgspec.structs.replace(report.findings[0], severity="error", explained_by=())
    effect = msgspec.structs.replace(cause, code="NCD111", explained_by=(cause.name,))
    lines = renderer("github")(msgspec.structs.replace(report, findings=(cause, effect), suspects=())).splitlines()
    assert [read(line)[0] for line in lines] == ["error", "notice"]


def test_the_program_prints_them(ncdiag: Callable[..., subprocess.CompletedProcess[bytes]], project: Path) -> None:
    done = ncdiag("parse", "fixtures/cases/veth/nccl.log", "--format", "github", cwd=project)
    assert done.returncode == 1
    level, properties, message = read(done.stdout.decode().splitlines()[0])
    assert (level, properties["file"], properties["line"]) == ("error", "fixtures/cases/veth/nccl.log", "5")
    assert "export NCCL_SOCKET_IFNAME='=eno1'" in message
