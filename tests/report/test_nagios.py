"""The output of a monitoring plugin: one status line with performance data, whose state is the exit code."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from kept_reports import NAMES, load

from ncdiag.report import renderer
from ncdiag.report.model import Look, Report
from ncdiag.report.nagios import State, state

Run = Callable[..., subprocess.CompletedProcess[bytes]]
LINE = re.compile(r"NCDIAG (OK|WARNING|CRITICAL|UNKNOWN): ([^|]+?)(?: \| ([^|]+))?")
DATUM = re.compile(r"[a-z]+=\d+;;;0")


def read(text: str) -> tuple[str, str, dict[str, int]]:
    """State, text and performance data of the first line, by the grammar of the guidelines."""
    found = LINE.fullmatch(text.splitlines()[0])
    assert found, text
    data = (found[3] or "").split()
    assert all(DATUM.fullmatch(datum) for datum in data)
    return found[1], found[2], {datum.partition("=")[0]: int(re.findall(r"\d+", datum)[0]) for datum in data}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("fail_on", ["error", "warning", "info", "never"])
def test_the_line_has_the_state_of_the_exit_code(name: str, fail_on: str) -> None:
    report = load(name)
    text = renderer("nagios")(report, fail_on=fail_on)
    said, _, data = read(text)
    assert said == state(report, fail_on).name
    assert data["errors"] == report.summary.errors
    assert "|" not in "".join(text.splitlines()[1:]), "what comes after a bar would be performance data"
    assert max(map(len, text.splitlines())) < 500


def counted(errors: int, warnings: int, infos: int) -> Report:
    report = load("healthy")
    summary = msgspec.structs.replace(report.summary, errors=errors, warnings=warnings, infos=infos)
    return msgspec.structs.replace(report, summary=summary)


@pytest.mark.parametrize(
    ("counts", "states"),
    [
        ((1, 0, 0), "CRITICAL CRITICAL CRITICAL WARNING"), ((0, 1, 0), "WARNING CRITICAL CRITICAL WARNING"),
        ((0, 0, 1), "OK OK CRITICAL OK"), ((0, 0, 0), "OK OK OK OK"),
    ],
)  # fmt: skip
def test_states_by_severity(counts: tuple[int, int, int], states: str) -> None:
    found = [state(counted(*counts), fail_on).name for fail_on in ("error", "warning", "info", "never")]
    assert " ".join(found) == states


def test_what_was_not_seen_is_not_ok() -> None:
    report = counted(0, 0, 0)
    skipped, passed = Look(area="a", what="b", status="SKIP"), Look(area="a", what="b", status="PASS")
    for blind in ({"faults": ("x",)}, {"looks": (skipped, skipped)}):
        changed = msgspec.structs.replace(report, **blind)
        assert state(changed) is State.UNKNOWN
        assert read(renderer("nagios")(changed))[0] == "UNKNOWN"
    assert state(msgspec.structs.replace(report, looks=(skipped, passed))) is State.OK
    assert state(load("nothing")) is State.UNKNOWN
    assert state(msgspec.structs.replace(counted(1, 0, 0), faults=("x",))) is State.CRITICAL


VETH = "fixtures/cases/veth/nccl.log"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["parse", VETH], 2), (["triage", VETH], 2), ([VETH], 2), (["parse", VETH, "--fail-on", "never"], 1),
        (["check", "--root", "fixtures/roots/ib-initializing"], 2), (["parse", "{nothing}"], 3),
        (["parse", "no-such-file"], 3), (["check", "--nonsense"], 3), (["parse", VETH, "--select", "no-such-rule"], 3),
        (["parse", VETH, "--min-severity"], 3), (["parse", "--each", VETH], 3), (["parse"], 3),
        (["parse", VETH, "-o", "/no/such/folder/x"], 3),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, list) else None,
)  # fmt: skip
@pytest.mark.parametrize("asked", [["--exit-style", "nagios"], ["--format=nagios"]], ids=["style", "format"])
def test_the_program_answers_as_a_plugin(
    ncdiag: Run, project: Path, tmp_path: Path, arguments: list[str], code: int, asked: list[str]
) -> None:
    nothing = tmp_path / "nothing.txt"
    nothing.write_text("one two three\n")
    words = [word.replace("{nothing}", str(nothing)) for word in arguments]
    done = ncdiag(*words[:1], *asked, *words[1:], cwd=project)
    assert done.returncode == code
    assert read(done.stdout.decode())[0] == State(code).name


def test_the_findings_that_are_not_shown_count(ncdiag: Run, project: Path) -> None:
    """``--min-severity`` and ``--fail-on`` of ncdiag's own codes: what is hidden is still there."""
    root = ["check", "--root", "fixtures/roots/ib-initializing", "--exit-style", "nagios"]
    done = ncdiag(*root, "--min-severity", "error", cwd=project)
    assert read(done.stdout.decode())[2] == read(ncdiag(*root, cwd=project).stdout.decode())[2]


def test_another_format_keeps_the_exit_codes(ncdiag: Run, project: Path) -> None:
    done = ncdiag("parse", VETH, "--exit-style", "nagios", "--format", "json", cwd=project)
    assert done.returncode == 2
    assert msgspec.json.decode(done.stdout, type=Report).summary.errors
    done = ncdiag("parse", "no-such-file", "--exit-style", "nagios", "--format", "json", cwd=project)
    assert (done.returncode, done.stdout) == (3, b"")
    assert b"no-such-file" in done.stderr


def test_a_state_without_its_exit_code_is_refused(ncdiag: Run, project: Path) -> None:
    done = ncdiag("parse", VETH, "--exit-style", "ncdiag", "--format", "nagios", cwd=project)
    assert done.returncode == 3
    assert "remove --exit-style ncdiag" in read(done.stdout.decode())[1]
    assert ncdiag("parse", VETH, "--exit-style", "ncdiag", cwd=project).returncode == 1
