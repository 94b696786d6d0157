"""What an assistant may name, what of an answer fits, and what ends a call: the parts of the server one by one."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import jsonschema
import msgspec
import psutil
import pytest
from kept_reports import NAMES, load

from ncdiag.apps.mcp import allowed, running, tools
from ncdiag.apps.mcp.answers import Diagnosis
from ncdiag.apps.mcp.fit import fitted, size
from ncdiag.base.errors import InputError, UsageError
from ncdiag.report.schema import of_type

Json = dict[str, Any]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An allowed folder beside a secret one, with links that lead out of it."""
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "key.log").write_text("secret\n")
    inside = tmp_path / "logs"
    (inside / "rank1").mkdir(parents=True)
    for name in ("a.log", "rank1/b.log", ".hidden"):
        (inside / name).write_text("text\n")
    (inside / "out.log").symlink_to(tmp_path / "secret" / "key.log")
    (inside / "out").symlink_to(tmp_path / "secret")
    (inside / "in.log").symlink_to(inside / "a.log")
    os.mkfifo(inside / "pipe.log")
    return inside


def test_a_folder_gives_what_is_in_it_and_nothing_that_links_lead_to(folder: Path) -> None:
    found = [str(folder / "a.log"), str(folder / "rank1" / "b.log")]
    assert allowed.files([str(folder)], allowed.folders([folder])) == found
    assert allowed.files(["rank1", "in.log"], allowed.folders([folder])) == found[::-1]


@pytest.mark.parametrize(
    "path",
    ["../secret/key.log", "out.log", "out", "out/key.log", "/etc/passwd", "none.log", "", "a\0b", "~", "*", ".hidden"],
)
def test_what_is_outside_is_refused_like_what_does_not_exist(folder: Path, path: str) -> None:
    if not path:
        assert len(allowed.files([path], allowed.folders([folder]))) == 2  # the folder itself
        return
    with pytest.raises(InputError, match="is not a file or folder below"):
        allowed.files([path], allowed.folders([folder]))


def test_a_pipe_is_not_opened(folder: Path) -> None:
    with pytest.raises(InputError, match="is not a regular file"):
        allowed.files(["pipe.log"], allowed.folders([folder]))


def test_only_a_folder_can_be_allowed(folder: Path) -> None:
    with pytest.raises(UsageError, match="not a folder"):
        allowed.folders([folder / "a.log"])


def test_too_many_files_are_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(allowed, "FILES", 1)
    with pytest.raises(InputError, match="more than 1 files"):
        allowed.files([""], allowed.folders([folder]))


@pytest.mark.parametrize("path", ["out.log", "out/key.log", "in.log", "pipe.log", "none.log", "rank1"])
def test_what_was_replaced_by_a_link_before_it_is_opened_is_not_read(folder: Path, path: str) -> None:
    with pytest.raises(OSError):  # noqa: PT011  (whatever the system calls it)
        allowed.opened(str(folder / path))


@pytest.mark.parametrize("links", ["/proc/self/fd", "none"])
def test_what_is_replaced_after_it_was_opened_is_read_as_it_was(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: str
) -> None:
    (tmp_path / "call").mkdir()
    monkeypatch.chdir(tmp_path / "call")
    monkeypatch.setattr(running, "_LINKS", Path(links))
    names = {name: str(folder / name) for name in ("a.log", "rank1/b.log", "out.log")}
    assert running.placed(names) == (
        ["a.log", "rank1/b.log"],
        ("1 file was not read: Too many levels of symbolic links",),
    )
    (folder / "a.log").unlink()
    (folder / "a.log").symlink_to(tmp_path / "secret" / "key.log")
    (folder / "rank1").rename(folder / "rank2")
    (folder / "rank1").symlink_to(tmp_path / "secret")
    assert [Path(name).read_text() for name in ("a.log", "rank1/b.log")] == ["text\n"] * 2


def test_a_link_is_refused_where_nothing_else_is_asked_for(folder: Path, tmp_path: Path) -> None:
    call = running.Call("", [], None, [["triage"]], {"out/key.log": str(folder / "out" / "key.log")})
    with pytest.raises(InputError, match="1 file was not read: Not a directory"):
        anyio.run(running.run, call, tmp_path)


def test_more_files_than_can_be_open_are_refused(folder: Path) -> None:
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (80, 80))\n"
        "from ncdiag.apps.mcp import running\n"
        f"running.placed({{str(n): {str(folder / 'a.log')!r} for n in range(20)}})"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True, cwd=folder)
    assert "20 files were given, but only 16 can be open at once" in done.stderr


def test_names_in_an_answer_begin_at_the_allowed_folder(folder: Path) -> None:
    file = str(folder / "rank1" / "b.log")
    assert allowed.shown(file, [folder]) == "rank1/b.log"
    assert allowed.shown(file, [folder, folder.parent / "secret"]) == "logs/rank1/b.log"


def many(name: str) -> Json:
    """A kept report with everything in it a hundred times, and long texts."""
    report = load(name)
    finding = report.findings[0]
    long = msgspec.structs.replace(finding, why=finding.why * 20, evidence=finding.evidence * 40)
    repeated = msgspec.structs.replace(
        report, findings=(long,) * 100, unknown=report.unknown * 200, inputs=report.inputs * 100,
        next_steps=report.next_steps * 9,
    )  # fmt: skip
    answer: Json = json.loads(msgspec.json.encode(repeated))
    return answer


def lines_to_paste(answer: Json) -> Iterator[str]:
    for finding in answer["findings"]:
        for fix in finding["fixes"]:
            yield from fix["commands"].values()


@pytest.mark.parametrize("most", [4000, 8000, 24_000, 200_000])
def test_an_answer_is_cut_to_what_fits_and_says_so(most: int) -> None:
    answer = many("veth")
    kept, left_out = fitted(copy.deepcopy(answer), most)
    assert size(answer) > most
    assert size(kept) <= most
    jsonschema.Draft202012Validator(of_type(Diagnosis)).validate(kept)
    assert any(text.startswith("findings") for text in left_out)
    assert set(lines_to_paste(kept)) <= set(lines_to_paste(answer))
    assert kept["summary"]["root_cause"] == answer["summary"]["root_cause"]


def test_the_leading_finding_and_its_fix_stay_in_an_answer_of_the_usual_size() -> None:
    kept, _ = fitted(many("veth"), 24_000)
    assert kept["findings"][0]["name"] == "socket-virtual-ifname"
    assert list(lines_to_paste(kept))


@pytest.mark.parametrize("name", NAMES)
def test_what_fits_is_left_alone(name: str) -> None:
    answer = json.loads(msgspec.json.encode(load(name)))
    assert fitted(copy.deepcopy(answer), size(answer)) == (answer, ())


def test_a_call_that_is_cancelled_leaves_no_process(tmp_path: Path) -> None:
    """A pipe that nobody writes to is read for ever."""
    pipe = tmp_path / "pipe.log"
    os.mkfifo(pipe)

    async def cancelled() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(running.run, running.Call("", [], None, [["triage", str(pipe)]]), tmp_path)
            with anyio.fail_after(60):
                async with await anyio.open_file(pipe, "wb"):  # opens when the process does
                    group.cancel_scope.cancel()

    before = {process.pid for process in psutil.Process().children()}
    anyio.run(cancelled)
    assert {process.pid for process in psutil.Process().children()} <= before
    assert list(tmp_path.iterdir()) == [pipe]


def triaged(folder: Path, own: Path, **arguments: Any) -> Json:  # noqa: ANN401
    settings = tools.Settings(own, allowed.folders([folder]))
    tool = tools.tools(settings)["triage"]
    told = anyio.run(tool.call, tools.asked(tool, arguments, settings), settings)
    return told.fields


def test_a_folder_without_files_is_a_sentence_and_not_standard_input(folder: Path, tmp_path: Path) -> None:
    (folder / "empty").mkdir()
    with pytest.raises(InputError, match="these paths contain no visible file"):
        triaged(folder, tmp_path, paths=["empty"])


def test_text_and_names_that_are_not_unicode_are_read(folder: Path, tmp_path: Path) -> None:
    (folder / os.fsdecode(b"\xff.log")).write_text("text\n")
    found = triaged(folder, tmp_path, text="\ud800 it hangs", paths=["."])
    assert [each["source"] for each in found["inputs"]] == ["paste", "a.log", "\\udcff.log", "rank1/b.log"]
    json.dumps(found, ensure_ascii=False).encode()


def test_a_call_ends_with_the_server(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.log")
    call = running.Call("", [], None, [["triage", str(tmp_path / "pipe.log")]], server=os.getpid() + 1)
    command = [sys.executable, "-c", running.PROGRAM]
    assert subprocess.run(command, check=False, input=running.encoded(call), cwd=tmp_path).returncode == 1


def test_the_command_imports_the_sdk_only_to_serve() -> None:
    code = "import sys, ncdiag.commands.mcp; sys.exit(bool({'mcp', 'mcp_types', 'anyio'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_without_the_sdk_one_sentence_says_what_is_missing() -> None:
    code = "import sys; sys.modules['mcp_types'] = None; from ncdiag.cli import main; sys.exit(main(['mcp']))"
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "ncdiag: ncdiag mcp needs the package mcp, release 2 or newer: pip install 'ncdiag[mcp]'\n"
