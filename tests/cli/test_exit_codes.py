"""The real program in a process of its own: exit codes, which stream says what, and never a traceback."""

from __future__ import annotations

import array
import fcntl
import json
import os
import random
import signal
import stat
import subprocess
import termios
from collections.abc import Callable
from pathlib import Path

import jsonschema
import msgspec
import pytest
from processes import until

from ncdiag import __version__
from ncdiag.cli import command_names
from ncdiag.report.model import Report

Done = subprocess.CompletedProcess[bytes]
Run = Callable[..., Done]

HEALTHY = "just a line of prose\n"


@pytest.fixture(scope="module")
def veth(project: Path) -> Path:
    return project / "fixtures" / "cases" / "veth" / "nccl.log"


def sentence(done: Done) -> str:
    """What stderr says; it has to be one sentence of ours."""
    text = done.stderr.decode()
    assert "Traceback" not in text
    assert text.startswith("ncdiag: "), text
    return text


def test_version(ncdiag: Run) -> None:
    done = ncdiag("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"ncdiag {__version__}\n".encode(), b"")


def test_help_names_every_command(ncdiag: Run) -> None:
    done = ncdiag("--help")
    assert done.returncode == 0
    for name in command_names():
        assert name in done.stdout.decode()


@pytest.mark.parametrize("name", command_names())
def test_every_command_explains_itself(ncdiag: Run, name: str) -> None:
    done = ncdiag(name, "--help")
    assert done.returncode == 0
    assert b"Usage: ncdiag " + name.encode() in done.stdout
    assert done.stderr == b""


def test_nothing_asked(ncdiag: Run) -> None:
    done = ncdiag()
    assert done.returncode == 2
    assert done.stdout == b""
    screen = done.stderr.decode().splitlines()
    assert len(screen) <= 24
    assert max(map(len, screen)) <= 80
    commands = [line.split()[1] for line in screen if line.startswith("  ncdiag ")]
    assert commands == ["FILE...", "check", "run", "lint", "explain"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--nonsense"], "--nonsense"),
        (["parse", "--nonsense"], "--nonsense"),
        (["pares", "x.log"], "pares"),
        (["no-such-file.log"], "no-such-file.log"),
        (["parse"], "FILE"),
        (["parse", "{veth}", "--format", "yaml"], "there is no format 'yaml'"),
        (["parse", "{veth}", "--fail-on", "sometimes"], "fail-on"),
        (["parse", "{veth}", "--min-severity", "loud"], "min-severity"),
        (["parse", "{veth}", "--select", "no-such-rule"], "no-such-rule"),
        (["parse", "{veth}", "--ignore", "NCD00"], "NCD00"),
        (["parse", "{veth}", "--nccl", "new"], "new"),
        (["parse", "{veth}", "--rules", "/no/such/folder"], "/no/such/folder"),
        (["parse", "/no/such/file"], "/no/such/file"),
        (["check", "--root", "/no/such/root"], "/no/such/root"),
        (["explain", "no-such-rule"], "no-such-rule"),
        (["rules", "show", "no-such-rule"], "no-such-rule"),
        (["rules", "test", "no-such-rule"], "no-such-rule"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, list) else "",
)
def test_usage_errors_are_one_sentence(ncdiag: Run, veth: Path, arguments: list[str], words: str) -> None:
    done = ncdiag(*(argument.replace("{veth}", str(veth)) for argument in arguments))
    assert done.returncode == 2
    assert done.stdout == b""
    said = sentence(done)
    assert words in said
    assert said.count("\n") == 1


def test_findings(ncdiag: Run, veth: Path) -> None:
    done = ncdiag("parse", veth)
    assert done.returncode == 1
    assert done.stderr == b""
    text = done.stdout.decode()
    assert "ROOT CAUSE" in text
    assert "socket-virtual-ifname" in text
    assert "\x1b" not in text


@pytest.mark.parametrize("command", [["parse"], ["triage"], []], ids=["parse", "triage", "none"])
def test_json_is_a_report(ncdiag: Run, veth: Path, command: list[str]) -> None:
    done = ncdiag(*command, veth, "--format", "json")
    assert done.returncode == 1
    report = json.loads(done.stdout)
    jsonschema.validate(report, msgspec.json.schema(Report))
    assert report["schema_version"] == 1
    assert report["summary"]["root_cause"] == report["findings"][0]["name"] == "socket-virtual-ifname"
    lines = veth.read_text().splitlines()
    evidence = report["findings"][0]["evidence"]
    assert 1 <= len(evidence) <= 5
    for item in evidence:
        assert item["source"] == str(veth)
        assert item["text"] == lines[item["line"] - 1]


def test_stdin_and_file_answer_alike(ncdiag: Run, veth: Path) -> None:
    by_name, by_pipe = (
        ncdiag("triage", veth, "--format", "json"),
        ncdiag("-", "--format", "json", input=veth.read_bytes()),
    )
    assert by_pipe.returncode == by_name.returncode == 1
    assert by_name.stdout.replace(json.dumps(str(veth)).encode(), b'"-"') == by_pipe.stdout


@pytest.mark.parametrize(
    ("options", "code"),
    [([], 1), (["--fail-on", "never"], 0), (["--fail-on", "info"], 1)],
    ids=["error", "never", "info"],
)
def test_fail_on(ncdiag: Run, veth: Path, options: list[str], code: int) -> None:
    assert ncdiag("parse", veth, *options).returncode == code


def test_an_ignored_rule_is_silent(ncdiag: Run, veth: Path) -> None:
    done = ncdiag("parse", veth, "--format", "json", "--ignore", "socket-virtual-ifname")
    assert "socket-virtual-ifname" not in [f["name"] for f in json.loads(done.stdout)["findings"]]


def test_only_the_selected_rule_speaks(ncdiag: Run, veth: Path) -> None:
    done = ncdiag("parse", veth, "--format", "json", "--select", "socket-virtual-ifname")
    assert [f["name"] for f in json.loads(done.stdout)["findings"]] == ["socket-virtual-ifname"]


@pytest.mark.parametrize(
    "content",
    [
        b"\n",
        HEALTHY.encode(),
        random.Random(1).randbytes(4096),
        "prose\n".encode("utf-16"),
    ],
    ids=["blank", "prose", "random", "utf-16"],
)
def test_nothing_understood(ncdiag: Run, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "input"
    path.write_bytes(content)
    for format_ in ("text", "json"):
        done = ncdiag("triage", path, "--format", format_)
        assert done.returncode == 3
        assert b"Traceback" not in done.stderr
        assert done.stdout
    assert json.loads(done.stdout)["summary"]["verdict"] == "nothing-understood"


@pytest.mark.parametrize(("content", "what"), [(b"", b"judge: empty"), (b"\x7fELF" + bytes(4000), b"judge: a program")])
def test_a_file_without_text_is_named(ncdiag: Run, tmp_path: Path, content: bytes, what: bytes) -> None:
    path = tmp_path / "input"
    path.write_bytes(content)
    for format_ in ("text", "json"):
        done = ncdiag("triage", path, "--format", format_)
        assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (3, b"", 1)
        assert what in done.stderr


def test_a_fault_of_an_option_names_the_help_of_its_command(ncdiag: Run) -> None:
    done = ncdiag("probe", "--nodes")
    assert (done.returncode, done.stderr.decode().count("(see 'ncdiag probe --help')")) == (2, 1)


def test_inputs_none_of_which_can_be_read(ncdiag: Run) -> None:
    done = ncdiag("parse", "nosuch", "neither")
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode().splitlines()[-1] == "ncdiag: none of the 2 inputs could be read"


def test_an_unreadable_file_does_not_hide_the_others(ncdiag: Run, veth: Path) -> None:
    done = ncdiag("parse", "/no/such/file", veth, "--format", "json")
    assert done.returncode == 1
    assert "/no/such/file" in sentence(done)
    assert json.loads(done.stdout)["summary"]["root_cause"] == "socket-virtual-ifname"
    assert ncdiag("parse", "/no/such/file", veth, "--quiet").stderr == b""


def test_a_directory_is_read_whole(ncdiag: Run, veth: Path, tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "rank0.log").write_bytes(veth.read_bytes())
    done = ncdiag("parse", tmp_path / "logs", "--format", "json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["inputs"][0]["source"].endswith("logs/rank0.log")


def test_output_file(ncdiag: Run, veth: Path, tmp_path: Path) -> None:
    target = tmp_path / "report.json"
    done = ncdiag("parse", veth, "--format", "json", "-o", target)
    assert (done.returncode, done.stdout) == (1, b"")
    assert json.loads(target.read_bytes())["schema_version"] == 1
    assert sorted(p.name for p in tmp_path.iterdir()) == ["report.json"]
    target.chmod(0o640)
    ncdiag("parse", veth, "-o", target)
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert b"ROOT CAUSE" in target.read_bytes()


@pytest.mark.parametrize("target", ["/dev/full", "/no/such/folder/report", "/"])
def test_output_that_cannot_be_written(ncdiag: Run, veth: Path, target: str) -> None:
    done = ncdiag("parse", veth, "-o", target)
    assert done.returncode == 4
    assert target in sentence(done)
    assert done.stdout == b""


def test_full_disk_behind_stdout(ncdiag: Run, veth: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        done = ncdiag("parse", veth, stdout=full)
    assert done.returncode == 4
    assert "No space left" in sentence(done)
    assert done.stderr.count(b"\n") == 1


@pytest.mark.parametrize("arguments", [["parse", "{veth}"], ["--version"], ["--help"], ["facts", "{veth}"]])
def test_closed_pipe_is_quiet(ncdiag: Run, veth: Path, arguments: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = ncdiag(*(argument.replace("{veth}", str(veth)) for argument in arguments), stdout=writer)
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")


def test_head_of_nothing(veth: Path, program: list[str]) -> None:
    shell = 'set -o pipefail; "$@" | head -c 0'
    done = subprocess.run(["bash", "-c", shell, "bash", *program, "parse", str(veth)], capture_output=True, check=False)
    assert done.returncode in (1, 141)  # head may be gone before or after the report was written
    assert done.stderr == b""


def test_internal_error_is_one_sentence(project: Path, veth: Path, tmp_path: Path, program: list[str]) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import sys, types\n"
        "broken = types.ModuleType('ncdiag.diagnose')\n"
        "broken.__getattr__ = lambda name: 1 / 0\n"
        "sys.modules['ncdiag.diagnose'] = broken\n"
    )
    env = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run([*program, "parse", str(veth)], env=env, capture_output=True, check=False, cwd=project)
    assert done.returncode == 5
    assert "internal error: ZeroDivisionError" in sentence(done)
    assert done.stderr.count(b"\n") == 1
    env["NCDIAG_DEBUG"] = "1"
    done = subprocess.run([*program, "parse", str(veth)], env=env, capture_output=True, check=False, cwd=project)
    assert done.returncode == 5
    assert b"Traceback" in done.stderr


def waits_for_input(child: subprocess.Popen[bytes]) -> bool:
    """Has it read all that was written, and does it sleep until there is more?"""
    assert child.stdin is not None
    unread = array.array("i", [0])
    fcntl.ioctl(child.stdin, termios.FIONREAD, unread)
    state = Path(f"/proc/{child.pid}/stat").read_text().rpartition(")")[2].split()[0]
    return unread[0] == 0 and state == "S"


def test_interrupted_with_what_is_there(veth: Path, program: list[str]) -> None:
    child = subprocess.Popen(
        [*program, "triage", "-", "--format", "json"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert child.stdin is not None
    lines = veth.read_bytes() * (1 + (9 << 20) // veth.stat().st_size)  # more than the buffers between us hold
    child.stdin.write(lines)
    child.stdin.flush()
    until(lambda: waits_for_input(child))
    child.send_signal(signal.SIGINT)
    out, err = child.communicate()
    assert child.returncode == 130
    assert b"Traceback" not in err
    report = json.loads(out)
    assert report["summary"]["root_cause"] == "socket-virtual-ifname"
    assert any("interrupted" in note for note in report["inputs"][0]["notes"])
