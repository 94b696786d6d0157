"""The commands around the judgement: facts, rules, explain, check."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from ncdiag.engine.load import rule_files

Run = Callable[..., subprocess.CompletedProcess[bytes]]

RULE = """
code = "PRV001"
name = "house-rule"
area = "site"
severity = "warning"
role = "cause"
layer = 10
title = "Host {h.name} was seen"
why = "A rule of this test."
false_positives = ["A host of another house."]
each = { h = "job.hosts" }
when = ['h.name != "nobody"']
references = ["https://example.org/"]

[[fix]]
kind = "ask_admin"
text = "Nothing to do."

[[example]]
name = "a host"
outcome = "fired"
host = "n1"
nccl_log = "n1:1:1 [0] NCCL INFO NET/Socket : Using [0]eth0:10.0.0.1<0>"

[[example]]
name = "the excepted host"
outcome = "clear"
host = "nobody"
nccl_log = "nobody:1:1 [0] NCCL INFO NET/Socket : Using [0]eth0:10.0.0.1<0>"

[[example]]
name = "no host"
outcome = "unknown"
text = "the data are loaded"
"""


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    """A private pack with one rule."""
    folder = tmp_path / "pack"
    (folder / "site").mkdir(parents=True)
    (folder / "site" / "house-rule.toml").write_text(RULE)
    return folder


@pytest.fixture(scope="module")
def veth(project: Path) -> Path:
    return project / "fixtures" / "cases" / "veth" / "nccl.log"


def test_facts_are_json(ncdiag: Run, veth: Path) -> None:
    done = ncdiag("facts", veth)
    assert (done.returncode, done.stderr) == (0, b"")
    job = json.loads(done.stdout)
    assert [host["name"] for host in job["hosts"]] == ["gpu-a01"]
    assert {i["name"] for i in job["hosts"][0]["interfaces"]} >= {"eno1", "veth25f2e72"}


def test_the_list_has_every_rule(ncdiag: Run, project: Path) -> None:
    listed = ncdiag("rules", "list").stdout.decode().splitlines()
    assert {line.split()[3] for line in listed} == {path.stem for path in rule_files(project / "rules")}


def test_a_rule_is_shown_by_code_and_name(ncdiag: Run) -> None:
    by_name, by_code = ncdiag("rules", "show", "socket-virtual-ifname"), ncdiag("rules", "show", "NCD101")
    assert by_name.returncode == 0
    assert by_name.stdout == by_code.stdout == ncdiag("explain", "NCD101").stdout
    assert b"NCCL_SOCKET_IFNAME" in by_name.stdout


def test_a_wrong_name_is_corrected(ncdiag: Run) -> None:
    assert b"did you mean 'socket-virtual-ifname'?" in ncdiag("explain", "socket-virtual-ifnam").stderr


def test_explain_shows_the_clauses(ncdiag: Run, veth: Path) -> None:
    done = ncdiag("explain", "socket-virtual-ifname", veth)
    text = done.stdout.decode()
    assert done.returncode == 0
    assert text.startswith("socket-virtual-ifname (NCD101): fired\n")
    assert "\n     true    " in text
    assert "\n     false   unless " in text


def test_a_private_rule_is_judged_shown_and_tested(ncdiag: Run, veth: Path, pack: Path) -> None:
    report = json.loads(ncdiag("parse", veth, "--rules", pack, "--format", "json").stdout)
    assert "house-rule" in [finding["name"] for finding in report["findings"]]
    assert b"house-rule" in ncdiag("rules", "list", "--rules", pack).stdout
    assert ncdiag("rules", "show", "PRV001", "--rules", pack).returncode == 0
    done = ncdiag("rules", "test", "--rules", pack)
    assert done.stdout == b"1 rules, 3 examples, 0 problems\n"
    assert done.returncode == 0


def test_a_rule_that_fails_its_example_is_told(ncdiag: Run, pack: Path) -> None:
    path = pack / "site" / "house-rule.toml"
    path.write_text(path.read_text().replace('outcome = "clear"', 'outcome = "unknown"'))
    done = ncdiag("rules", "test", "house-rule", "--rules", pack)
    assert done.returncode == 1
    assert b"house-rule: example 'the excepted host' should be unknown" in done.stdout


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("h.name !=", "h.nmae !=", "did you mean 'name'?"),
        ('severity = "warning"', 'severity = "bad"', "severity"),
        ('code = "PRV001"', 'code = "NCD101"', "NCD101"),
        ("layer = 10", "layer = ", "TOML"),
        ("why =", "wy =", "did you mean 'why'?"),
    ],
)
def test_a_broken_private_rule_is_refused(ncdiag: Run, veth: Path, pack: Path, old: str, new: str, words: str) -> None:
    path = pack / "site" / "house-rule.toml"
    path.write_text(path.read_text().replace(old, new))
    for command in (["parse", veth], ["rules", "list"], ["rules", "test"]):
        done = ncdiag(*command, "--rules", pack)
        assert done.returncode == 2
        assert done.stdout == b""
        assert words in done.stderr.decode()
        assert b"Traceback" not in done.stderr


def test_check_judges_this_machine(ncdiag: Run) -> None:
    done = ncdiag("check", "--format", "json")
    assert done.returncode in (0, 1)
    report = json.loads(done.stdout)
    assert report["summary"]["nhosts"] in (1, None)
    assert report["summary"]["not_looked_at"]


def test_check_takes_nothing_away_where_no_variable_is_set(ncdiag: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("NCCL_")]:
        monkeypatch.delenv(name)
    report = json.loads(ncdiag("check", "--no-nccl", "--format", "json").stdout)
    assert [finding["name"] for finding in report["findings"] if any(fix["unset"] for fix in finding["fixes"])] == []


def test_check_reads_a_recorded_tree(ncdiag: Run, tmp_path: Path) -> None:
    for path, text in {
        "etc/hostname": "recorded7\n",
        "sys/class/infiniband/mlx5_0/ports/1/state": "2: INIT\n",
        "sys/class/infiniband/mlx5_0/ports/1/phys_state": "5: LinkUp\n",
        "sys/class/infiniband/mlx5_0/ports/1/link_layer": "InfiniBand\n",
        "sys/class/infiniband/mlx5_0/ports/1/rate": "200 Gb/sec (4X HDR)\n",
        "sys/class/infiniband/mlx5_0/ports/1/lid": "0x0\n",
        "sys/class/infiniband/mlx5_0/ports/1/sm_lid": "0x0\n",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    report = json.loads(ncdiag("check", "--root", tmp_path, "--format", "json").stdout)
    assert report["summary"]["hosts"] == "recorded7"
    assert report["summary"]["root_cause"] == "ib-sm-not-running"


def test_the_python_of_the_documentation_runs(project: Path, veth: Path, tmp_path: Path, program: list[str]) -> None:
    text = (project / "docs" / "python.md").read_text(encoding="utf-8")
    code = text.partition("```python\n")[2].partition("```")[0]
    for name in ("my.log", "paste.txt"):
        (tmp_path / name).write_bytes(veth.read_bytes())
    python = Path(program[0]).parent / "python"
    done = subprocess.run([python, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert "socket-virtual-ifname" in done.stdout


def test_what_was_not_understood_can_be_shown(ncdiag: Run, tmp_path: Path) -> None:
    paste = tmp_path / "paste.txt"
    paste.write_text(
        "root@n1:~# lsmod\nModule  Size  Used by\nnvidia  16384  0\n\n\x1b[31mno idea what this is\nnor this\n"
    )
    done = ncdiag("facts", "--unread", paste)
    counted = json.loads(ncdiag("triage", "--format", "json", paste).stdout)["inputs"][0]["unread_lines"]
    assert (done.returncode, done.stderr) == (0, b"")
    lines = done.stdout.decode().splitlines()
    assert len(lines) == counted > 0
    assert any(line.startswith(f"{paste}:") and line.endswith("nor this") for line in lines)
    assert b"\x1b" not in done.stdout
    assert ncdiag("facts", "--unread", "--redact", paste).returncode == 2
