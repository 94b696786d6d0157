"""The units and the table of cron are run as they are written, but for their paths; alerts ask for what there is."""

from __future__ import annotations

import configparser
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import command_lines
import pytest
from prometheus_client.parser import text_string_to_metric_families
from ruamel.yaml import YAML

Run = Callable[..., subprocess.CompletedProcess[bytes]]
CONTRIB = Path(__file__).resolve().parents[2] / "contrib"
pytestmark = pytest.mark.xdist_group("prometheus")  # one run of the service's command
UNITS = ("ncdiag-textfile.service", "ncdiag-textfile.timer")
FAULTY = "fixtures/roots/ib-initializing"


def unit(name: str) -> configparser.ConfigParser:
    found = configparser.ConfigParser(interpolation=None, strict=False)
    found.optionxform = str  # type: ignore[assignment, method-assign]
    found.read(CONTRIB / "prometheus" / name)
    return found


def metrics(text: str) -> dict[str, Any]:
    return {family.name: family for family in text_string_to_metric_families(text)}


def run_here(words: list[str], project: Path, ncdiag: Run, target: Path) -> int:
    """The command with the paths of this machine and the faulty tree; its exit code."""
    assert words[0] in {"ncdiag", "/usr/local/bin/ncdiag"}
    place = words.index("-o") + 1
    return ncdiag(*words[1:place], target, *words[place + 1 :], "--root", project / FAULTY).returncode


@pytest.fixture(scope="module")
def written(project: Path, ncdiag: Run, tmp_path_factory: pytest.TempPathFactory) -> tuple[int, dict[str, Any]]:
    """The exit code of the service's command, and the metrics that it wrote."""
    target = tmp_path_factory.mktemp("metrics") / "ncdiag.prom"
    code = run_here(shlex.split(unit(UNITS[0])["Service"]["ExecStart"]), project, ncdiag, target)
    return code, metrics(target.read_text())


def test_systemd_takes_the_units(need: Callable[[str, object, str], None], tmp_path: Path) -> None:
    need("systemd", shutil.which("systemd-analyze"), "systemd-analyze is not installed")
    for name in UNITS:
        text = (CONTRIB / "prometheus" / name).read_text()
        (tmp_path / name).write_text(text.replace("/usr/local/bin/ncdiag", "/bin/true"))
    done = subprocess.run(
        ["systemd-analyze", "verify", *(tmp_path / name for name in UNITS)], check=False, capture_output=True, text=True
    )
    assert [line for line in done.stderr.splitlines() if "ncdiag-textfile" in line] == []


def test_the_service_writes_metrics_and_does_not_fail_for_a_finding(written: tuple[int, dict[str, Any]]) -> None:
    service = unit(UNITS[0])["Service"]
    code, found = written
    assert str(code) == service["SuccessExitStatus"]
    assert found["ncdiag_findings"].samples
    folder = Path(str(command_lines.options_of(shlex.split(service["ExecStart"])[1:])["output"])).parent
    assert service["ReadWritePaths"] == str(folder)


def test_cron_runs_the_same_command() -> None:
    lines = (CONTRIB / "prometheus" / "ncdiag.cron").read_text().splitlines()
    (entry,) = [line for line in lines if line.startswith("*")]
    assert "%" not in entry, "cron takes it for a line end"
    words = shlex.split(entry.split(None, 6)[6])
    assert words[:5] == ["timeout", "-k", "5", "120", "ncdiag"]
    assert words[5:] == shlex.split(unit(UNITS[0])["Service"]["ExecStart"])[1:]


def test_alerts_ask_for_metrics_and_labels_that_there_are(written: tuple[int, dict[str, Any]]) -> None:
    _, found = written
    rules = YAML(typ="safe").load(CONTRIB / "prometheus" / "ncdiag-alerts.yml")["groups"][0]["rules"]
    assert len({rule["alert"] for rule in rules}) == len(rules) == 3
    for rule in rules:
        (name,) = re.findall(r"ncdiag_\w+", rule["expr"])
        labels = {label for sample in found[name].samples for label in sample.labels} | {"instance"}
        assert {*re.findall(r"(\w+)=\"", rule["expr"])} <= labels
        assert {*re.findall(r"\$labels\.(\w+)", str(rule["annotations"]))} <= labels


def test_the_page_names_the_metrics(written: tuple[int, dict[str, Any]]) -> None:
    page = (CONTRIB / "prometheus" / "README.md").read_text()
    assert {*re.findall(r"`(ncdiag_\w+)", page)} == set(written[1])
