"""The manifests are what Kubernetes reads, their commands ncdiag's; node-problem-detector gets its exit codes."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import command_lines
import pytest
from prometheus_client.parser import text_string_to_metric_families
from ruamel.yaml import YAML

FOLDER = Path(__file__).resolve().parents[2] / "contrib" / "kubernetes"
MANIFESTS = sorted(path.name for path in FOLDER.glob("*.yaml"))
FAULTY = "fixtures/roots/ib-initializing"


def manifest(name: str) -> dict[str, Any]:
    found: dict[str, Any] = YAML(typ="safe").load(FOLDER / name)
    return found


def container(name: str) -> dict[str, Any]:
    (found,) = manifest(name)["spec"]["template"]["spec"]["containers"]
    assert isinstance(found, dict)
    return found


def output_of(words: list[str]) -> Path:
    return Path(str(command_lines.options_of(words)["output"]))


def paths_of(value: Any, path: str = "") -> Iterator[str]:  # noqa: ANN401
    """The place of each leaf."""
    if isinstance(value, dict | list) and value:
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from paths_of(inner, f"{path}/{key}")
    else:
        yield path


@pytest.mark.parametrize("name", MANIFESTS)
def test_kubernetes_knows_every_field(name: str, need: Callable[[str, object, str], None]) -> None:
    """kubectl reads a manifest into the types of the API, which drops what they do not have."""
    need("kubectl", shutil.which("kubectl"), "kubectl is not installed")
    command = ["kubectl", "label", "--local", "-f", str(FOLDER / name), "a=b", "-o", "json"]
    done = subprocess.run(command, capture_output=True, check=True, env={**os.environ, "KUBECONFIG": os.devnull})
    command = ["kubectl", "set", "image", "--local", "-f", "-", "ncdiag=other", "-o", "json"]
    done = subprocess.run(command, input=done.stdout, capture_output=True, check=True)
    assert {*paths_of(manifest(name))} - {*paths_of(json.loads(done.stdout))} == set()


@pytest.mark.parametrize("name", MANIFESTS)
def test_volumes_are_those_that_are_mounted(name: str) -> None:
    volumes = [volume["name"] for volume in manifest(name)["spec"]["template"]["spec"]["volumes"]]
    assert sorted(mount["name"] for mount in container(name)["volumeMounts"]) == sorted(volumes)


def test_the_job_needs_no_rights_and_its_command_is_one() -> None:
    job = container("parse-job.yaml")
    assert manifest("parse-job.yaml")["spec"]["template"]["spec"]["securityContext"]["runAsNonRoot"]
    assert job["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    options = command_lines.options_of(job["args"])
    assert [*options["files"]] == [job["volumeMounts"][0]["mountPath"]]  # type: ignore[misc]


def test_the_daemonset_writes_metrics_and_a_status_that_the_plugin_reads(
    project: Path, program: list[str], tmp_path: Path
) -> None:
    """Its script, run by a shell for one round, with a faulty tree for the host and folders of the test."""
    daemon = container("check-daemonset.yaml")
    (script,) = daemon["args"]
    mounts = {mount["mountPath"] for mount in daemon["volumeMounts"]}
    for words in command_lines.written_in(script):
        assert str(output_of(words).parent) in mounts
    for folder in ("textfile", "status"):
        (tmp_path / folder).mkdir()
        script = script.replace(f" /{folder}/", f" {tmp_path}/{folder}/")
    script = script.replace("ncdiag check", f"{program[0]} check --root {project / FAULTY}")
    once = script.replace("sleep 600 & wait $!", "exit 7")
    assert script != once
    assert subprocess.run([*daemon["command"], once], check=False, capture_output=True).returncode == 7
    families = text_string_to_metric_families((tmp_path / "textfile" / "ncdiag.prom").read_text())
    assert "ncdiag_findings" in {family.name for family in families}
    done = plugin(tmp_path / "status" / "ncdiag")
    assert done.returncode == 1
    assert done.stdout.startswith("NCDIAG CRITICAL: ib-sm-not-running (NCD202)")


def plugin(*words: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the plugin."""
    return subprocess.run(
        [FOLDER / "ncdiag-npd.sh", *words], env={"PATH": "/usr/bin:/bin", **environment}, text=True, check=False,
        capture_output=True, stdin=subprocess.DEVNULL,
    )  # fmt: skip


@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_the_shells_take_the_plugin(shell: str) -> None:
    assert os.access(FOLDER / "ncdiag-npd.sh", os.X_OK)
    subprocess.run([shell, "-n", FOLDER / "ncdiag-npd.sh"], check=True)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("NCDIAG OK: fine | errors=0;;;0\n", 0), ("NCDIAG WARNING: slow | errors=0;;;0\n", 0),
        ("NCDIAG CRITICAL: broken | errors=1;;;0\nmore\n", 1), ("NCDIAG UNKNOWN: blind\n", 2), ("", 2),
        ("Traceback (most recent call last):\n", 2),
    ],
)  # fmt: skip
def test_exit_codes_are_those_of_node_problem_detector(tmp_path: Path, text: str, code: int) -> None:
    """OK 0, NonOK 1, Unknown 2: pkg/custompluginmonitor/types/types.go."""
    status = tmp_path / "status"
    status.write_text(text)
    done = plugin(status)
    assert done.returncode == code
    assert done.stdout.count("\n") == 1
    assert "|" not in done.stdout


def test_an_old_or_missing_status_is_unknown(tmp_path: Path) -> None:
    status = tmp_path / "status"
    assert plugin(status).returncode == 2
    status.write_text("NCDIAG CRITICAL: broken\n")
    os.utime(status, (0, 0))
    assert plugin(status, "1800").returncode == 2
    assert plugin(status, str(1 << 40)).returncode == 1


def test_without_a_file_the_plugin_runs_ncdiag(program: list[str], tmp_path: Path) -> None:
    cache = os.environ["XDG_CACHE_HOME"]
    done = plugin(NCDIAG=program[0], NCDIAG_LIMIT="300", XDG_CACHE_HOME=cache)
    assert done.returncode in {0, 1, 2}
    assert re.match(["NCDIAG (OK|WARNING): ", "NCDIAG CRITICAL: ", "NCDIAG UNKNOWN: "][done.returncode], done.stdout)
    assert plugin(NCDIAG=str(tmp_path / "none")).returncode == 2


SECONDS = re.compile(r"(\d+)s")


def test_the_monitor_is_what_node_problem_detector_accepts() -> None:
    """What Validate and ApplyConfiguration of pkg/custompluginmonitor/types/config.go ask, and Go's names of fields."""
    config = json.loads((FOLDER / "ncdiag-monitor.json").read_text())
    assert set(config) <= {"plugin", "pluginConfig", "source", "metricsReporting", "conditions", "rules"}
    assert config["plugin"] == "custom"
    whole = config["pluginConfig"]
    assert set(whole) <= {
        "invoke_interval", "timeout", "max_output_length", "concurrency",
        "enable_message_change_based_condition_update", "skip_initial_status",
    }  # fmt: skip
    seconds = {name: int(SECONDS.fullmatch(whole[name])[1]) for name in ("invoke_interval", "timeout")}  # type: ignore[index]
    assert 0 < seconds["timeout"] < seconds["invoke_interval"]
    assert all(set(condition) == {"type", "reason", "message"} for condition in config["conditions"])
    for rule in config["rules"]:
        assert set(rule) <= {"type", "condition", "reason", "path", "args", "timeout", "invoke_interval"}
        assert rule["type"] in {"temporary", "permanent"}
        assert rule["condition"] in {condition["type"] for condition in config["conditions"]}
        assert int(SECONDS.fullmatch(rule["timeout"])[1]) <= seconds["timeout"]  # type: ignore[index]
        assert Path(rule["path"]).name == "ncdiag-npd.sh"
        assert rule["args"][0] == status_of_the_daemonset()


def status_of_the_daemonset() -> str:
    """Where the host has the status file that it writes."""
    daemon, volumes = (
        container("check-daemonset.yaml"), manifest("check-daemonset.yaml")["spec"]["template"]["spec"]["volumes"],
    )  # fmt: skip
    (output,) = [output_of(words) for words in command_lines.written_in(daemon["args"][0]) if "nagios" in words]
    (name,) = [mount["name"] for mount in daemon["volumeMounts"] if mount["mountPath"] == str(output.parent)]
    (folder,) = [volume["hostPath"]["path"] for volume in volumes if volume["name"] == name]
    return f"{folder}/{output.name}"
