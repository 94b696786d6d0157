"""A saved state beside what is there now, and standing orders that hold no more."""

from __future__ import annotations

import datetime as dt
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from generate.machines import write
from generate.shelf import HGX

from ncdiag.base.config import Config, load

Ran = Callable[..., subprocess.CompletedProcess[bytes]]


@pytest.fixture
def good(tmp_path: Path) -> Path:
    return write(tmp_path / "good", HGX)


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    return write(tmp_path / "bad", HGX.but(memlock="65536", kernel="5.15.0-91-generic"))


def report_of(done: subprocess.CompletedProcess[bytes]) -> dict:  # type: ignore[type-arg]
    found: dict = json.loads(done.stdout)  # type: ignore[type-arg]
    return found


def told(report: dict) -> dict[str, tuple[str, str]]:  # type: ignore[type-arg]
    return {f"{c['what']} {c['name']}".strip(): (c["before"], c["after"]) for c in report["baseline"]["changes"]}


def test_what_differs_from_the_baseline_is_told(good: Path, bad: Path, ncdiag: Ran) -> None:
    done = ncdiag("check", "--root", bad, "--baseline", good, "--format", "json")
    assert done.returncode == 0, done.stderr  # a difference is no finding
    report = report_of(done)
    assert told(report) == {
        "limit memlock": ("unlimited", "65536"), "kernel": ("6.8.0-60-generic", "5.15.0-91-generic"),
    }  # fmt: skip
    assert report["baseline"]["equal"] > 50
    shown = ncdiag("check", "--root", bad, "--baseline", good).stdout.decode()
    assert "2 things differ from the baseline" in " ".join(shown.split())


def test_nothing_differs_from_itself(good: Path, ncdiag: Ran) -> None:
    report = report_of(ncdiag("check", "--root", good, "--baseline", good, "--format", "json"))
    assert report["baseline"]["changes"] == []
    shown = ncdiag("check", "--root", good, "--baseline", good).stdout.decode()
    assert "Nothing differs from the baseline" in shown


def test_outputs_of_one_tool_are_a_baseline_of_what_they_show(tmp_path: Path, bad: Path, ncdiag: Ran) -> None:
    limits = tmp_path / "ulimit.txt"
    limits.write_text("$ ulimit -a\nmax locked memory           (kbytes, -l) unlimited\nopen files   (-n) 1048576\n")
    report = report_of(ncdiag("check", "--root", bad, "--baseline", limits, "--format", "json"))
    assert told(report) == {"limit memlock": ("unlimited", "65536")}
    assert report["baseline"]["one_sided"] > 50


def test_several_hosts_that_differ_alike_are_one_difference(tmp_path: Path, good: Path, ncdiag: Ran) -> None:
    roots = [write(tmp_path / name, HGX.but(name=name, memlock="65536")) for name in ("n1", "n2", "n3")]
    arguments = [part for root in roots for part in ("--root", root)]
    report = report_of(ncdiag("check", *arguments, "--baseline", good, "--format", "json"))
    [change] = [c for c in report["baseline"]["changes"] if c["name"] == "memlock"]
    assert (change["hosts"], change["nhosts"]) == ("n[1-3]", 3)


def test_one_area_alone_compares_hosts_only_where_it_is_theirs(good: Path, bad: Path, ncdiag: Ran) -> None:
    arguments = ("check", "--root", good, "--root", bad, "--format", "json")
    assert report_of(ncdiag(*arguments, "--only", "hosts"))["comparison"]
    report = report_of(ncdiag(*arguments, "--only", "clock"))
    assert (report["comparison"], report["alike"]) == ([], 0)


def test_the_configuration_may_name_the_baseline(good: Path, bad: Path, ncdiag: Ran) -> None:
    config = good.parent / "ncdiag.toml"
    config.write_text('baseline = "good"\n')
    report = report_of(ncdiag("check", "--root", bad, "--config", config, "--format", "json"))
    assert set(told(report)) == {"limit memlock", "kernel"}
    report = report_of(ncdiag("check", "--root", bad, "--format", "json"))
    assert report["baseline"] is None


def test_a_baseline_that_cannot_be_used_is_refused(tmp_path: Path, bad: Path, ncdiag: Ran) -> None:
    prose = tmp_path / "prose.txt"
    prose.write_text("the cat sat on the mat\n")
    for path in (prose, tmp_path / "gone.tar.gz"):
        done = ncdiag("check", "--root", bad, "--baseline", path)
        assert done.returncode == 2
        assert path.name.encode() in done.stderr
        assert b"Traceback" not in done.stderr


ORDERS = """
[[ignore]]
rule = "memlock-too-low"
reason = "ticket 12"
until = 2020-01-31

[[ignore]]
rule = "memlock-too-low"
reason = "ticket 12, as before"
until = 2020-03-01

[[ignore]]
rule = "shm-small"
reason = "the image mounts its own"
until = 2020-05-01

[[ignore]]
rule = "shm-small"
reason = "the new image does, too"
"""


def test_an_order_that_has_expired_is_told_once_and_its_rule_is_judged(tmp_path: Path, bad: Path, ncdiag: Ran) -> None:
    config = tmp_path / "ncdiag.toml"
    config.write_text(ORDERS)
    report = report_of(ncdiag("check", "--root", bad, "--config", config, "--format", "json"))
    [sentence] = report["expired"]
    assert "memlock-too-low is used again since 2020-03-01" in sentence
    assert "ticket 12, as before" in sentence
    assert "memlock-too-low" in {finding["name"] for finding in report["findings"]}
    for form in ("text", "markdown"):
        for more in ((), ("-v",)):
            shown = ncdiag("check", "--root", bad, "--config", config, "--format", form, *more).stdout.decode()
            assert shown.count("No longer ignored") == 1


def test_an_order_expires_on_its_day(tmp_path: Path) -> None:
    path = tmp_path / "ncdiag.toml"
    path.write_text(ORDERS)
    config: Config = load(path)
    assert config.expired(dt.date(2020, 1, 30)) == ()
    assert config.expired(dt.date(2020, 2, 1)) == ()  # the second order still holds
    assert len(config.expired(dt.date(2020, 3, 1))) == 1
    assert len(config.expired(dt.date(2030, 1, 1))) == 1
