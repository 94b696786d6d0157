"""``--since``, ``--until`` and ``--window``: what the commands that read logs answer for a window of time."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Ncdiag = Callable[..., "subprocess.CompletedProcess[bytes]"]
REFUSED = "srv1:7:7 [0] NCCL WARN Call to connect to 10.0.0.9<4000> failed : Connection refused"
OUT_OF_MEMORY = "srv1:7:7 [0] NCCL WARN Cuda failure 2 'out of memory'"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Twenty minutes with a step each ten seconds, and two faults, one of them in each half."""
    lines = [f"2026-05-03 03:{n // 6:02}:{n % 6}0 srv1 step {n}" for n in range(120)]
    lines[90:90] = ["2026-05-03 03:14:55 srv1 trainer failed", REFUSED]
    lines[30:30] = ["2026-05-03 03:04:55 srv1 trainer failed", OUT_OF_MEMORY]
    path = tmp_path / "job.log"
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def cited(done: subprocess.CompletedProcess[bytes]) -> set[int]:
    """The lines of the input that a report cites."""
    report = json.loads(done.stdout)
    return {line["line"] for finding in report["findings"] for line in finding["evidence"]}


@pytest.mark.parametrize("command", ["parse", "triage"])
def test_only_lines_of_the_window_are_read(log: Path, ncdiag: Ncdiag, command: str) -> None:
    assert cited(ncdiag(command, "--format", "json", log)) == {32, 94}
    assert cited(ncdiag(command, "--format", "json", log, "--since", "03:10")) == {94}
    assert cited(ncdiag(command, "--format", "json", log, "--until", "2026-05-03 03:10")) == {32}
    piped = ncdiag(command, "--format", "json", "-", "--since", "03:10", input=log.read_bytes())
    assert cited(piped) == {94}


def test_the_report_names_the_window(log: Path, ncdiag: Ncdiag) -> None:
    between = "between 2026-05-03 03:10:00 and 2026-05-03 03:16:00"
    arguments = ("parse", log, "--since", "03:10", "--until", "03:16")
    assert json.loads(ncdiag(*arguments, "--format", "json").stdout)["window"]["text"] == between
    for form in ((), ("-v",), ("--format", "markdown"), ("--format", "html")):
        shown = " ".join(re.sub(r"<[^>]*>", " ", ncdiag(*arguments, *form).stdout.decode()).split())
        assert re.search(rf"Only lines:? {between}", shown), form


def test_the_first_difference_is_on_the_screen(log: Path, ncdiag: Ncdiag) -> None:
    found = json.loads(ncdiag("parse", log, "--until", "03:17", "--window", "5m", "--format", "json").stdout)["window"]
    assert [(change["what"], change["time"], change["line"]) for change in found["changes"]] == [
        ("new", "2026-05-03 03:14:55", 93), ("new", "2026-05-03 03:14:55", 94),
    ]  # fmt: skip
    screen = " ".join(ncdiag("parse", log, "--until", "03:17", "--window", "5m").stdout.decode().split())
    assert "First change: 2026-05-03 03:14:55, new: 2026-05-03 03:14:55 srv1 trainer failed" in screen


def test_a_window_that_holds_nothing_names_the_times_of_the_file(log: Path, ncdiag: Ncdiag) -> None:
    done = ncdiag("parse", log, "--since", "05:00", "--until", "05:10")
    assert done.returncode == 3
    assert done.stderr.decode().rstrip("\n") == (
        f"ncdiag: {log}: it has no line between 2026-05-03 05:00:00 and 2026-05-03 05:10:00: "
        "its times go from 2026-05-03 03:00:00 to 2026-05-03 03:19:50"
    )


@pytest.mark.parametrize(
    ("stamp", "note"),
    [
        ("2026-05-03 02:59:00+00:00", "its stamps go back once, first from 2026-05-03 03:19:50+00:00 to"),
        ("2026-05-03T03:21:00+08:00", "its stamps have several zones"),
    ],
)
def test_what_is_odd_about_the_stamps_is_whole_on_the_screen(
    log: Path, ncdiag: Ncdiag, tmp_path: Path, stamp: str, note: str
) -> None:
    text = log.read_text() + f"{stamp} srv1 a step of another clock\n2026-05-03T03:22:00+00:00 srv1 the last step\n"
    log.write_text(text)
    other = tmp_path / "other.log"
    other.write_text(text)
    for files in ((log,), (log, other)):
        shown = ncdiag("triage", *files, "--since", "03:05").stdout.decode()
        lines = shown.splitlines()
        (read,) = (number for number, line in enumerate(lines) if line.startswith("Read: "))
        told = " ".join(" ".join(lines[read + 1 :]).split())
        assert note in told, shown
        assert ("2 inputs: " in told) == (len(files) == 2)
        assert len(lines) <= 23


def test_stamps_without_a_year_are_told_on_the_screen(ncdiag: Ncdiag, tmp_path: Path) -> None:
    path = tmp_path / "kern.log"
    path.write_text("".join(f"May  3 03:1{n}:00 srv1 kernel: tick\n" for n in range(6)) + f"{REFUSED}\n")
    shown = " ".join(ncdiag("triage", path, "--since", "03:13").stdout.decode().split())
    assert re.search(r"its stamps have no year; the first was read as \d{4}-05-03 03:1\d:00", shown), shown


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--since", "3 pm"), "'3 pm' is not a time (examples: "),
        (("--since", "2026-02-30"), "'2026-02-30' is a time that does not exist"),
        (("--window", "ten"), "'ten' is not a duration (examples: "),
        (("--since", "2026-05-03", "--until", "2026-05-02"), "the window ends before it begins: 2026-05-03 is after "),
        (("--since", "May 3 03:14", "--until", "May 3 03:13"), "the window ends before it begins: May 3 03:14 "),
    ],
)
def test_what_is_no_window_is_refused_with_a_sentence(
    log: Path, ncdiag: Ncdiag, arguments: tuple[str, ...], said: str
) -> None:
    done = ncdiag("parse", log, *arguments)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode().startswith(f"ncdiag: {said}")


def test_diff_compares_the_same_window_of_both(log: Path, ncdiag: Ncdiag, tmp_path: Path) -> None:
    good = tmp_path / "good.log"
    good.write_text(log.read_text().replace(REFUSED, "fine").replace(OUT_OF_MEMORY, "fine"))
    late = ncdiag("diff", good, log, "--since", "03:10").stdout.decode()
    assert "efused" in late
    assert "out of memory" not in late
    empty = ncdiag("diff", good, log, "--since", "2026-06-01")
    assert empty.stderr.count(b"it has no line after 2026-06-01 00:00:00") == 2


def test_watch_takes_lines_of_the_window_only(log: Path, ncdiag: Ncdiag) -> None:
    arguments = ("watch", "-", "--quiet", "--format", "json")
    found = ncdiag(*arguments, "--since", "2026-05-03 03:10", input=log.read_bytes())
    assert cited(found) == {94}
    assert cited(ncdiag(*arguments, input=log.read_bytes())) == {32, 94}


def test_each_and_partial_take_a_window(log: Path, ncdiag: Ncdiag) -> None:
    job = json.loads(ncdiag("parse", "--each", "--format", "json", log, "--since", "03:10").stdout)["jobs"][0]
    assert job["report"]["window"]["text"] == "after 2026-05-03 03:10:00"
    assert ncdiag("parse", "--partial", log, "--since", "03:10").stdout != ncdiag("parse", "--partial", log).stdout
