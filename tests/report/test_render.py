"""Hand-built reports against expected files under fixtures/reports; ``pytest --update`` rewrites those."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import jsonschema
import msgspec
import pytest
from kept_reports import NAMES as CASES
from kept_reports import REPORTS, load

from ncdiag.base.errors import UsageError
from ncdiag.report import digest, formats, renderer
from ncdiag.report.model import Report
from ncdiag.report.sanitize import one_line

SUFFIX = {"text": "txt", "markdown": "md"}
DETAILS = ("brief", "screen", "whole")
TERMINAL = 24
ANSI = re.compile(r"\x1b\[[0-9;]*m")


def test_there_are_reports() -> None:
    assert {"veth", "hostile", "healthy", "nothing", "symptom"} <= set(CASES)


@pytest.mark.parametrize("format_", sorted(SUFFIX))
@pytest.mark.parametrize("name", CASES)
def test_output_is_as_expected(name: str, format_: str, expect: Callable[[Path, str], None]) -> None:
    expect(REPORTS / f"{name}.{SUFFIX[format_]}", renderer(format_)(load(name)))


@pytest.mark.parametrize("detail", ["brief", "screen"])
@pytest.mark.parametrize("name", CASES)
def test_shorter_texts_are_as_expected(name: str, detail: str, expect: Callable[[Path, str], None]) -> None:
    expect(REPORTS / f"{name}.{detail}.txt", renderer("text")(load(name), detail=detail))


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("name", CASES)
def test_the_first_screen_fits_on_a_terminal_with_its_prompt(name: str, width: int) -> None:
    lines = renderer("text")(load(name), width=width, detail="screen").splitlines()
    assert sum(max(1, -(-len(line) // width)) for line in lines) < TERMINAL
    assert lines[-1].endswith("add -v for the full report")


@pytest.mark.parametrize("name", CASES)
def test_json_is_the_report_itself(name: str) -> None:
    report = load(name)
    text = renderer("json")(report)
    jsonschema.validate(json.loads(text), msgspec.json.schema(Report))
    assert msgspec.json.decode(text, type=Report) == report


@pytest.mark.parametrize("name", CASES)
def test_every_format_is_safe_on_a_terminal(name: str) -> None:
    texts = [renderer("text")(load(name), detail=detail) for detail in DETAILS]
    for text in [*texts, *(renderer(format_)(load(name)) for format_ in formats())]:
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200b-\u200f\ufeff]", text)
        assert text.endswith("\n")


def test_a_job_of_very_many_ranks_fits_on_a_screen() -> None:
    """Scattered ranks and hosts, of which no list is short, in as many findings as there are rules."""
    report = load("veth")
    ranks = ",".join(str(rank) for rank in range(0, 100_000, 2))
    hosts = f"n[{','.join(str(host) for host in range(0, 25_000, 2))}]"
    finding = msgspec.structs.replace(
        report.findings[0], ranks=ranks, nranks=50_000, hosts=hosts, nhosts=12_500, explained_by=(), severity="error",
        title=f"The ranks differ: one (ranks {ranks} on {hosts}), another (all others)",
    )  # fmt: skip
    names = [f"finding-{number}" for number in range(300)]
    many = tuple(msgspec.structs.replace(finding, name=name) for name in names)
    text = renderer("text")(msgspec.structs.replace(report, findings=many), width=100)
    assert text.count("\n") < 110
    assert "and 295 more: finding-5" in text
    assert "(50000 in all)" in text
    assert len(renderer("json")(msgspec.structs.replace(report, findings=many))) > len(ranks) * 300


@pytest.mark.parametrize("width", [20, 60, 80, 300])
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("detail", DETAILS)
def test_text_keeps_to_its_width(name: str, width: int, detail: str) -> None:
    report = load(name)
    pasted = [line for finding in report.findings for fix in finding.fixes for _, line in digest.paste_lines(fix)]
    pasted += [reference for finding in report.findings for reference in finding.references]
    pasted += [step.run for step in report.next_steps]
    for line in renderer("text")(report, width=width, detail=detail).splitlines():
        assert len(line) <= max(width, 40) or any(line.endswith(one_line(paste)) for paste in pasted)


@pytest.mark.parametrize("name", CASES)
def test_colour_changes_nothing_but_the_colour(name: str) -> None:
    plain, painted = (renderer("text")(load(name), colour=colour) for colour in (False, True))
    assert [line.rstrip() for line in ANSI.sub("", painted).splitlines()] == plain.splitlines()
    assert "\x1b[1;31m" in painted or not any(f.severity == "error" for f in load(name).findings)


def test_text_of_the_input_is_never_markup() -> None:
    for colour in (False, True):
        text = renderer("text")(load("hostile"), colour=colour)
        for piece in ("[send]", "[receive]", "[/foo]", "[bold red]", ":warning:"):
            assert piece in text


def test_nobody_forges_a_line() -> None:
    for detail in DETAILS:
        text = renderer("text")(load("hostile"), detail=detail)
        assert not [line for line in text.splitlines() if line.startswith(("ROOT CAUSE: all is well", "FORGED"))]
    markdown = renderer("markdown")(load("hostile"))
    assert not [line for line in markdown.splitlines() if line.startswith(("# FORGED", "FORGED", "<script"))]
    assert not re.search(r"(?<!\\)<script", re.sub(r"(?s)(`{3,}).*?\n\1\n", "", markdown))


def test_a_fence_cannot_be_closed_from_inside() -> None:
    markdown = renderer("markdown")(load("hostile"))
    fences = re.findall(r"(?m)^(`{3,})(?:text)?$", markdown)
    assert fences
    assert fences[::2] == fences[1::2]


def test_lines_to_paste_are_whole() -> None:
    report = load("veth")
    commands = report.findings[0].fixes[0].commands
    for detail, lines in (("whole", [*commands.values()]), ("screen", [commands["export"]])):
        text = renderer("text")(report, width=40, detail=detail)
        for line in lines:
            assert any(shown.endswith(line) for shown in text.splitlines())


def test_consequences_are_folded_under_their_cause() -> None:
    report = load("veth")
    assert [f.name for f in digest.roots(report)] == ["socket-virtual-ifname", "nccl-debug-trace"]
    explained = [f.name for f in digest.consequences(report, report.findings[0])]
    assert explained == ["socket-connect-timeout", "init-never-completes"]


def test_a_cycle_of_explanations_ends() -> None:
    report = load("veth")
    first, second, *rest = report.findings
    looped = msgspec.structs.replace(
        report, findings=(msgspec.structs.replace(first, explained_by=(second.name,)), second, *rest)
    )
    assert renderer("text")(looped)


@pytest.mark.parametrize("name", ["nonsense", "model", "fold", "../text", "os.path", ""])
def test_what_is_no_format_is_refused_by_name(name: str) -> None:
    with pytest.raises(UsageError, match=r"the formats are (\w+, )*json, (\w+, )*markdown, (\w+, )*text"):
        renderer(name)
