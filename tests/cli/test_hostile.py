"""Text that wants to be more than text, through the whole program."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[bytes]]

UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
TRAPS = {
    "markup": "[send] [/foo] [bold red]x[/bold red] :warning:",
    "escape": "\x1b]0;title\x07\x1b[2J\x1b[31m",
    "c1": "\x9b2J\x9d0;title\x9c",
    "bidi": "\u202eexe.txt\u2066\u200b",
    "forged": "x\rROOT CAUSE\r\n",
}


@pytest.fixture(scope="module")
def veth(project: Path) -> str:
    return (project / "fixtures" / "cases" / "veth" / "nccl.log").read_text()


@pytest.mark.parametrize("format_", ["text", "html", "json", "markdown"])
@pytest.mark.parametrize("trap", TRAPS.values(), ids=TRAPS.keys())
def test_traps_in_a_log(ncdiag: Run, veth: str, tmp_path: Path, trap: str, format_: str) -> None:
    path = tmp_path / "job.log"
    lines = [line + " " + trap if "WARN" in line else line for line in veth.splitlines()]
    path.write_text("\n".join(lines), newline="")
    done = ncdiag("parse", path, "--format", format_)
    assert done.returncode == 1
    assert not UNSAFE.search(done.stdout.decode())
    assert b"Traceback" not in done.stderr
    if format_ == "json":
        assert json.loads(done.stdout)["summary"]["root_cause"] == "socket-virtual-ifname"
    else:
        assert "socket-virtual-ifname" in done.stdout.decode()


def test_markup_survives(ncdiag: Run, veth: str, tmp_path: Path) -> None:
    path = tmp_path / "job.log"
    path.write_text(
        "".join(f"{line} {TRAPS['markup']}\n" if "WARN" in line else f"{line}\n" for line in veth.splitlines())
    )
    text = ncdiag("parse", path).stdout.decode()
    joined = re.sub(r"\s*\n\s*\|? ?", " ", text)
    if "WARN" in joined:
        assert "[send] [/foo]" in joined


@pytest.mark.parametrize("name", ["[red]file[bold].log", "a\x1b[2Jb.log", "a\nncdiag: forged.log", "a\u202egol.log"])
def test_traps_in_a_file_name(ncdiag: Run, veth: str, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    for content, code in ((veth, 1), ("prose\n", 3)):
        path.write_text(content)
        for format_ in ("text", "json", "markdown"):
            done = ncdiag("parse", path, "--format", format_)
            assert done.returncode == code
            assert not UNSAFE.search((done.stdout + done.stderr).decode())
    path.unlink()
    done = ncdiag("parse", path)
    assert done.returncode == 2
    assert not UNSAFE.search(done.stderr.decode())
    assert done.stderr.startswith(b"ncdiag: ")
    assert done.stderr.count(b"\n") == 1


def test_a_bad_locale_breaks_nothing(ncdiag_process: Run, veth: str, tmp_path: Path) -> None:
    path = tmp_path / "job.log"
    path.write_text(veth.replace("WARN", "WARN ä漢"))
    for encoding in ("ascii", "latin-1"):
        done = ncdiag_process("parse", path, env={"PYTHONIOENCODING": encoding})
        assert done.returncode == 1
        assert b"Traceback" not in done.stderr
