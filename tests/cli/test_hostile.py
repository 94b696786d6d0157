"""Text that wants to be more than text, through the whole program."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from processes import seen_on

Run = Callable[..., subprocess.CompletedProcess[bytes]]

UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff\U000e0000-\U000e007f]"
)
TRAPS = {
    "markup": "[send] [/foo] [bold red]x[/bold red] :warning:",
    "escape": "\x1b]0;title\x07\x1b[2J\x1b[31m",
    "c1": "\x9b2J\x9d0;title\x9c",
    "bidi": "\u202eexe.txt\u2066\u200b",
    "invisible": "a\u00adb\u200d\u2060c\ufeff\u061c\U000e0041\x85",
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


MARKS = "\x9b2J\x85\u202eevil\u2066\U000e0041"
SHOWN, IN_JSON = r"\x9b2J\x85\u202eevil\u2066\U000e0041", r"\u009b2J\u0085\u202eevil\u2066\udb40\udc41"
LOG = f"gpu1:1:2 [0] NCCL INFO cudaDev 0\ngpu1:1:2 [0] NCCL WARN Bootstrap : no socket interface found {MARKS}\n"


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("triage", SHOWN), ("triage --brief", "gpu1"), ("triage --format markdown", SHOWN),
        ("triage --format html", SHOWN), ("triage --format json", IN_JSON), ("triage --format sarif", "gpu1"),
        ("triage --format junit", SHOWN), ("triage --format github", "gpu1"), ("facts", IN_JSON),
    ],
)  # fmt: skip
def test_marks_of_a_log_are_shown_as_escapes(ncdiag: Run, tmp_path: Path, words: str, shown: str) -> None:
    path = tmp_path / f"gpu1{MARKS}.log"
    path.write_text(LOG, newline="")
    done = ncdiag(*words.split(), path)
    said = (done.stdout + done.stderr).decode()
    assert not UNSAFE.search(said)
    assert shown in said


def test_marks_in_what_explain_and_lint_are_asked_are_shown_as_escapes(ncdiag: Run, tmp_path: Path) -> None:
    script = tmp_path / "start.sh"
    script.write_text(f"export NCCL_IB_HCA={MARKS} NCCL_DEBUGG=1\ntorchrun t{MARKS}.py\n", newline="")
    for words in (["explain", f"NCCL_X{MARKS}"], ["lint", f"NCCL_DEBUG=x{MARKS}"], ["lint", script]):
        done = ncdiag(*words)
        said = (done.stdout + done.stderr).decode()
        assert not UNSAFE.search(said)
        assert words[1] == script or SHOWN in said


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork(2)")
def test_marks_of_a_job_are_shown_as_escapes_by_run_and_watch(ncdiag_process: Run, tmp_path: Path) -> None:
    path = tmp_path / "job.log"
    path.write_text(LOG, newline="")
    for done in (
        ncdiag_process("watch", "-", input=path.read_bytes()),
        ncdiag_process("run", "--", "cat", path),
        ncdiag_process("run", "--", f"nosuch{MARKS}"),
    ):
        said = done.stderr.decode() if "cat" in done.args else (done.stdout + done.stderr).decode()
        assert not UNSAFE.search(said)
        assert SHOWN in said


def test_redacted_text_is_safe_on_a_terminal_and_whole_in_a_file(ncdiag_process: Run, tmp_path: Path) -> None:
    path = tmp_path / "job.log"
    path.write_text(LOG, newline="")
    assert MARKS in ncdiag_process("redact", path).stdout.decode()
    leader, follower = os.openpty()
    ncdiag_process("redact", "-q", path, stdout=follower)
    os.close(follower)
    shown = seen_on(leader, b"found").decode()
    os.close(leader)
    assert SHOWN in shown
    assert not UNSAFE.search(shown.replace("\r\n", "\n"))
