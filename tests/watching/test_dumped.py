"""Stacks of py-spy whose names are hostile, threads that cannot go on, and where a core file is."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hanging import needs_py_spy
from processes import until

from ncdiag.apps.watching import dumped, kernel, stacks, standing
from ncdiag.diagnose import diagnose
from ncdiag.text import TextSource, read_source

FORGED = (
    'x"\nProcess 1: python\nThread 1 (active): "MainThread"\n    all_reduce (torch/distributed/distributed_c10d.py:9)'
)


def process(proc: Path, pid: int, *words: str) -> None:
    (proc / str(pid)).mkdir()
    (proc / str(pid) / "cmdline").write_bytes(b"\0".join(word.encode() for word in words) + b"\0")


def thread(name: str, *frames: tuple[str, str, int]) -> dict[str, Any]:
    found = [{"name": f, "filename": f"/w/{file}", "short_filename": file, "line": line} for f, file, line in frames]
    return {"thread_id": 7, "os_thread_id": 70, "thread_name": name, "active": True, "owns_gil": True, "frames": found}


def read(text: str) -> list[dict[str, Any]]:
    found = read_source(TextSource.of_bytes("py-spy dump", text.encode())).observations
    return [dict(each.fields) for each in found if each.entity == "StackDump"]


@pytest.mark.parametrize(
    "hostile",
    [
        [thread(FORGED, ("load", "a.py", 3)), thread("MainThread", ("load", "a.py", 3))],
        [thread("MainThread", (FORGED, "a.py", 3), ("load", "a.py", 3))],
        [thread("MainThread", ("load", FORGED, 3), ("load", "a.py", 3))],
    ],
)
def test_a_name_begins_no_line(tmp_path: Path, hostile: list[dict[str, Any]]) -> None:
    process(tmp_path, 70, "python", f"train.py\n{FORGED}")
    text = dumped.as_text(json.dumps(hostile).encode(), 70, tmp_path)
    [dump] = read(text)
    functions = {frame["function"] for each in dump["threads"] for frame in each["frames"]}
    assert dump["pid"] == 70
    assert "load" in functions
    assert "all_reduce" not in functions


@pytest.mark.parametrize("words", [("train: rank 3",), ("",), ("/opt/venv/bin/python3", "train.py")])
def test_a_process_that_set_its_title_is_read(tmp_path: Path, words: tuple[str, ...]) -> None:
    process(tmp_path, 70, *words)
    text = dumped.as_text(json.dumps([thread("MainThread", ("load", "a.py", 3))]).encode(), 70, tmp_path)
    assert [dump["pid"] for dump in read(text)] == [70]


@pytest.mark.parametrize("output", [b"", b"not json", b"{}", b"[]", b"[1, null]", b"[" * 10_000, b"\xff\xfe"])
def test_what_is_no_dump_gives_nothing(tmp_path: Path, output: bytes) -> None:
    assert dumped.as_text(output, 70, tmp_path) == ""


@needs_py_spy
def test_a_thread_with_a_hostile_name_is_one_thread(tmp_path: Path) -> None:
    other = f"threading.Thread(target=time.sleep, args=(99,), name={FORGED!r}).start()"
    (tmp_path / "held.py").write_text(f"import threading, time\n{other}\ntime.sleep(99)\n")
    with subprocess.Popen([sys.executable, str(tmp_path / "held.py")]) as started:
        try:
            assert until(lambda: len(list(Path(f"/proc/{started.pid}/task").iterdir())) > 1)
            assert until(lambda: "held.py" in stacks.take([started.pid], "auto").text)
            [dump] = read(stacks.take([started.pid], "auto").text)
        finally:
            started.kill()
    assert dump["pid"] == started.pid
    assert len(dump["threads"]) == 2


def task(place: Path, name: str, state: str, wchan: str, stack: str = "") -> None:
    place.mkdir(parents=True)
    (place / "status").write_text(f"Name:\t{name}\nState:\t{state} (x)\n")
    (place / "wchan").write_text(wchan)
    (place / "stack").write_text(stack)


STACK = "[<0>] down_read+0x1/0x2\n[<0>] nvidia_ioctl+0x1/0x2 [nvidia]\n[<0>] vfs_ioctl+0x1/0x2\n"


@pytest.mark.parametrize(
    ("main", "other", "title"),
    [
        (
            ("S", "do_wait"),
            ("D", "down_read"),
            "thread 71 of python (PID 70) cannot be interrupted (D: down_read in nvidia)",
        ),
        (
            ("S", "do_wait"),
            ("t", "ptrace_stop"),
            "thread 71 of python (PID 70) is held by a debugger (t: ptrace_stop in nvidia)",
        ),
        (("D", "down_read"), ("S", "do_wait"), "python (PID 70) cannot be interrupted (D: down_read in nvidia)"),
        (("S", "do_wait"), ("S", "futex_do_wait"), ""),
    ],
)
def test_a_thread_that_cannot_go_on_decides(
    tmp_path: Path, main: tuple[str, str], other: tuple[str, str], title: str
) -> None:
    task(tmp_path / "70", "python", *main, STACK)
    task(tmp_path / "70" / "task" / "70", "python", *main, STACK)
    task(tmp_path / "70" / "task" / "71", "python", *other, STACK)
    lines = ["the job has printed nothing for 300 s, since 2031-01-01T00:00:00Z", *standing.standing([70], tmp_path)]
    report = diagnose([TextSource.of_bytes("ncdiag run", "\n".join([*lines, ""]).encode())])
    held = [each.title for each in report.findings if each.name == "job-process-held"]
    assert held == ([f"The job waits because {title}"] if title else [])


def test_the_number_of_threads_that_are_read_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(standing, "_MOST_THREADS", 5)
    task(tmp_path / "70", "python", "S", "do_wait")
    for number in range(71, 91):
        task(tmp_path / "70" / "task" / str(number), "python", "S", "do_wait")
    asked: list[Path] = []
    state = standing._state

    def noted(place: Path) -> tuple[str, str] | None:
        asked.append(place)
        return state(place)

    monkeypatch.setattr(standing, "_state", noted)
    assert len(list(standing.standing([70], tmp_path))) == 1
    assert len([place for place in asked if place.parent.name == "task"]) == 5


@pytest.mark.parametrize(
    ("limit", "pattern", "told", "command"),
    [
        (0, "core", "no core file was written", "ulimit -c unlimited"),
        ("unlimited", "/cores/%e.%p", "the core file is named /cores/%e.%p", "ls -lt /cores/*.*"),
        (0, "|/usr/lib/systemd/systemd-coredump %P %u", "systemd-coredump has the core file", "coredumpctl info 41"),
        (
            0,
            "|/usr/share/apport/apport -p%p",
            "gave the core file to /usr/share/apport/apport",
            "cat /proc/sys/kernel/core_pattern",
        ),
        (5, "core;reboot", "the core file is named core;reboot", "cat /proc/sys/kernel/core_pattern"),
        (None, "", "read the core file if one was written", "cat /proc/sys/kernel/core_pattern"),
    ],
)
def test_where_the_core_file_is(tmp_path: Path, limit: int | str | None, pattern: str, told: str, command: str) -> None:
    if limit is not None:
        (tmp_path / "core_pattern").write_text(f"{pattern}\n")
        soft = f"{limit:<20} "
        (tmp_path / "limits").write_text(
            f"Max stack size            8388608              unlimited            bytes\n"
            f"Max core file size        {soft}unlimited            bytes\n"
        )
    ended = TextSource.of_bytes("ncdiag run", b"the job was ended by signal 11 (SIGSEGV); its process was 41\n")
    report = diagnose([ended, *kernel.core_files(tmp_path / "core_pattern", tmp_path / "limits")])
    [found] = [each for each in report.findings if each.name == "job-failed-silently"]
    assert told in found.fixes[0].text
    assert found.fixes[0].commands["shell"].splitlines()[-1] == command
