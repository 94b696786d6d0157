"""What a person can read on any terminal: wide or narrow, dark or light, without colour, in a pipe, read aloud."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from kept_reports import NAMES, load

from ncdiag.commands import _progress
from ncdiag.commands._output import fitted
from ncdiag.report import renderer

Run = Callable[..., subprocess.CompletedProcess[bytes]]
STYLE = re.compile(r"\x1b\[([\d;]*)m")
TOO_BRIGHT = {"32", "33", "36", "37"}
"""Green, yellow, cyan and white, which many terminals brighten where they are bold: unreadable on white."""
DETAILS = ("brief", "screen", "whole")
PASTED = re.compile(
    r"\s+(?:export|unset|env|mpirun|docker|srun|torchrun|deepspeed|horovodrun|shell|k8s|echo|See|- ) *\S"
)


def text(name: str, width: int, detail: str, *, colour: bool = False) -> str:
    return renderer("text")(load(name), width=width, detail=detail, colour=colour)


@pytest.mark.parametrize("width", [40, 80])
@pytest.mark.parametrize("detail", DETAILS)
@pytest.mark.parametrize("name", NAMES)
def test_only_lines_to_paste_are_wider_than_the_terminal(name: str, detail: str, width: int) -> None:
    wide = [line for line in text(name, width, detail).splitlines() if len(line) > width]
    unbroken = [line for line in wide if " " in line.strip()[:width] and not PASTED.match(line)]
    assert unbroken == []


@pytest.mark.parametrize("width", [40, 60, 80])
def test_a_narrow_terminal_loses_neither_the_name_nor_what_the_line_shows(
    ncdiag: Run, project: Path, width: int
) -> None:
    log = project / "fixtures" / "cases" / "veth" / "nccl.log"
    printed = ncdiag("parse", log, env={"COLUMNS": str(width)}).stdout.decode()
    words = "".join(printed.replace("\n  | ", "").split())
    assert "[socket-virtual-ifname(NCD101,error,likely)]" in words
    assert "[1]veth25f2e72:fe80::68bd:41ff:fe07:9c12" in words
    assert "    export NCCL_SOCKET_IFNAME='=eno1'\n" in printed
    assert printed.count("\n") < 24


@pytest.mark.parametrize("detail", DETAILS)
@pytest.mark.parametrize("name", NAMES)
def test_colour_says_nothing_that_the_words_do_not(name: str, detail: str) -> None:
    painted = text(name, 80, detail, colour=True)
    assert STYLE.sub("", painted) == text(name, 80, detail)


@pytest.mark.parametrize("name", NAMES)
def test_every_colour_can_be_read_on_white_and_on_black(name: str) -> None:
    codes = [set(found.split(";")) for found in STYLE.findall(text(name, 80, "whole", colour=True))]
    assert [found for found in codes if "1" in found and found & TOO_BRIGHT] == []
    assert [found for found in codes if found & {"30", "34", "40", "47", "97"}] == []  # black, dark blue, backgrounds


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("detail", DETAILS)
def test_nothing_has_to_be_seen_as_a_drawing(name: str, detail: str) -> None:
    """A screen reader says each character of a line or a frame."""
    assert not re.search(r"[\u2500-\u259f\u2800-\u28ff]|[-=_*+]{4,}", text(name, 80, detail))


def test_the_table_of_looks_and_the_topology_are_words(ncdiag: Run, project: Path) -> None:
    root = project / "fixtures" / "roots" / "roce8"
    table = ncdiag("check", "--root", root, env={"FORCE_COLOR": "1"}).stdout.decode()
    plain = ncdiag("check", "--root", root).stdout.decode()
    assert STYLE.sub("", table) == plain
    assert {"PASS", "WARN", "SKIP"} <= set(plain.split())
    drawn = ncdiag("topo", "--root", root).stdout.decode()
    assert drawn.isascii()
    assert "! the PCIe link is narrower than possible" in drawn


@pytest.mark.parametrize(
    ("env", "option", "is_coloured"),
    [
        ({"FORCE_COLOR": "1"}, [], True), ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, [], False),
        ({"FORCE_COLOR": "1"}, ["--no-color"], False), ({"TERM": "xterm-256color"}, [], False),
        ({"TERM": "dumb"}, [], False),
    ],
)  # fmt: skip
def test_a_pipe_has_colour_only_where_it_is_asked_for(
    ncdiag: Run, project: Path, env: dict[str, str], option: list[str], *, is_coloured: bool
) -> None:
    done = ncdiag("parse", *option, project / "fixtures" / "cases" / "veth" / "nccl.log", env=env)
    assert (b"\x1b" in done.stdout) == is_coloured
    assert done.stderr == b""


def test_a_terminal_that_cannot_wipe_a_line_gets_no_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    for term, is_shown in (("xterm", True), ("dumb", False)):
        monkeypatch.setenv("TERM", term)
        with _progress.showing(quiet=False) as show:
            assert (show is not None) == is_shown


def test_lines_to_paste_are_never_wrapped(ncdiag: Run, project: Path) -> None:
    narrow = {"COLUMNS": "40"}
    printed = ncdiag("explain", "logging", env=narrow).stdout.decode()
    assert "    export NCCL_DEBUG_SUBSYS=INIT,BOOTSTRAP,ENV,NET,GRAPH\n" in printed
    script = project / "fixtures" / "lint" / "slurm" / "bad.sbatch"
    whole, cut = (ncdiag("lint", script, env=env).stdout.decode().splitlines() for env in ({}, narrow))
    corrected = [line for line in whole if line.startswith("    write: ")]
    assert len(corrected) > 3
    assert set(corrected) <= set(cut)
    assert [line for line in cut if len(line) > 40 and line not in corrected and " " in line.strip()[:40]] == []


def test_what_is_to_be_kept_is_compared_without_its_indentation() -> None:
    line = "    one two three four five six seven"
    assert fitted(line, 30) == "    one two three four five\n        six seven"
    assert fitted(line, 30, {line.strip()}) == line


def test_every_judging_command_can_be_quiet_and_verbose(ncdiag: Run) -> None:
    for name in ("check", "parse", "triage", "probe", "diff"):
        words = ncdiag("help", name).stdout.decode().split()
        assert {"-v,", "--verbose", "-q,", "--quiet"} <= set(words), name
