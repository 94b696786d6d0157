"""The commands of Nagios are run as they are written, but for their paths."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import pytest

FILE = Path(__file__).resolve().parents[2] / "contrib" / "nagios" / "ncdiag.cfg"
FAULTY = "fixtures/roots/ib-initializing"


def objects() -> list[tuple[str, dict[str, str]]]:
    """The objects that Nagios reads: their kind and directives."""
    text = re.sub(r"(?m)^\s*#.*\n", "", FILE.read_text())
    found = re.findall(r"define (\w+) \{\n(.*?)\n\}", text, re.DOTALL)
    assert re.sub(r"define \w+ \{\n.*?\n\}", "", text, flags=re.DOTALL).strip() == ""
    return [(kind, dict(line.strip().split(None, 1) for line in body.splitlines())) for kind, body in found]


def test_the_service_of_nagios_has_its_command() -> None:
    commands = {each["command_name"] for kind, each in objects() if kind == "command"}
    assert {each["check_command"] for kind, each in objects() if kind == "service"} <= commands


@pytest.mark.parametrize(("log", "code"), [("fixtures/cases/veth/nccl.log", 2), ("no such.log", 3)])
def test_the_command_for_logs_answers(project: Path, program: list[str], log: str, code: int) -> None:
    (line,) = [each["command_line"] for _, each in objects() if each.get("command_name") == "check_ncdiag_logs"]
    shown = line.replace("$ARG1$", log).replace("/usr/local/bin/ncdiag", program[0]).replace(" 50 ", " 300 ")
    done = subprocess.run(["sh", "-c", shown], cwd=project, check=False, capture_output=True, text=True)
    assert done.returncode == code
    assert done.stdout.startswith(("NCDIAG CRITICAL: ", "NCDIAG UNKNOWN: ")[code - 2])


def test_the_line_for_nrpe_answers(project: Path, program: list[str]) -> None:
    text = FILE.read_text()
    (line,) = re.findall(r"(?m)^# +command\[check_ncdiag\]=(.*)$", text)
    shown = line.replace("/usr/local/bin/ncdiag", program[0]).replace(" 50 ", " 300 ")
    done = subprocess.run(
        [*shlex.split(shown), "--root", project / FAULTY], check=False, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert done.stdout.startswith("NCDIAG CRITICAL: ")
