"""Files that grow, are rotated, cut and replaced: each byte is read once, and says what it says in the whole."""

from __future__ import annotations

import math
import os
import resource
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from generate import large

from ncdiag.apps.watching import follow
from ncdiag.apps.watching.follow import Files
from ncdiag.apps.watching.judging import Judging
from ncdiag.apps.watching.progress import Progress
from ncdiag.base.errors import InputError
from ncdiag.text.reading.growing import Growing
from ncdiag.text.reading.many import read_all
from ncdiag.text.reading.model import Reading
from ncdiag.text.reading.one import read_source
from ncdiag.text.sources.files import File, TextSource

forks = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
"""A test may have threads that ncdiag does not have."""


def pieces(data: bytes, size: int) -> Iterator[bytes]:
    return (data[at : at + size] for at in range(0, len(data), size))


def grown(name: str, data: bytes, size: int) -> Reading:
    growing = Growing(name)
    for piece in pieces(data, size):
        growing.feed(piece)
    assert growing.size == len(data)
    return growing.reading()


@pytest.mark.parametrize("size", [7, 1000])
def test_a_short_log_reads_as_if_it_had_been_whole(project: Path, size: int) -> None:
    data = (project / "fixtures" / "cases" / "veth" / "nccl.log").read_bytes()
    assert grown("x", data, size) == read_source(TextSource.of_bytes("x", data))


@pytest.mark.parametrize("size", [997, 1 << 16])
def test_a_long_log_reads_as_if_it_had_been_whole(tmp_path: Path, size: int) -> None:
    job = large.large("2.27.7", "roce", 4, faults=("gid",))
    lines = [f"{line}\n".encode() for line in large.lines(job)]
    steps = [b"step %d loss 2.5\n" % n for n in range(20_000)]
    data = b"".join([*lines, *steps, b"RuntimeError: NCCL error: unhandled system error\n", *lines])
    path = tmp_path / "job.log"
    path.write_bytes(data)
    whole = read_all([File(str(path), lambda: path.open("rb", buffering=0), len(data))]).texts[0]
    assert isinstance(whole, Reading)
    found = grown(str(path), data, size)
    assert (found.lines, found.unread_lines) == (whole.lines, whole.unread_lines)
    assert found.observations == whole.observations


def test_what_says_nothing_does_not_count_as_told() -> None:
    growing = Growing("x", keeps=0)
    for n in range(2000):
        growing.feed(b"step %d loss 2.5\n" % n)
    before = growing.told
    for n in range(2000, 4000):
        growing.feed(b"step %d loss 2.5\n" % n)
    assert growing.told == before
    growing.feed(
        b"gpu-a01:2201:2231 [0] misc/socket.cc:49 NCCL WARN socketProgress: Connection closed by remote peer\n"
    )
    assert growing.told > before


def text(files: Files) -> list[tuple[str, str]]:
    held = [(source.name, b"".join(source._held).decode()) for source in files.sources]
    return sorted((Path(name).name, content) for name, content in held)


def read(files: Files) -> int:
    return files.read(all_of_it=True)


def test_files_that_appear_are_followed(tmp_path: Path) -> None:
    files = Files([str(tmp_path), f"{tmp_path}/*.txt"])
    assert read(files) == 0
    (tmp_path / "a.log").write_text("one\n")
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "b.log").write_text("two\n")
    (tmp_path / ".hidden").write_text("no\n")
    assert read(files) == 8
    with (tmp_path / "a.log").open("a") as opened:
        opened.write("three\n")
    assert read(files) == 6
    assert read(files) == 0
    assert text(files) == [("a.log", "one\nthree\n"), ("b.log", "two\n")]


def test_a_rotated_log_is_read_to_its_end_and_not_again(tmp_path: Path) -> None:
    log = tmp_path / "app.log"
    log.write_text("one\n")
    files = Files([str(tmp_path)])
    read(files)
    with log.open("a") as opened:
        opened.write("two\n")
        log.rename(tmp_path / "app.log.1")
        log.write_text("three\n")
        read(files)
        opened.write("late\n")
    read(files)
    (tmp_path / "app.log.2.gz").write_bytes(b"\x1f\x8b\x08 what was read before\n")
    read(files)
    assert text(files) == [("app.log", "one\ntwo\nlate\n"), ("app.log", "three\n")]


def test_a_log_that_was_cut_is_read_from_its_beginning(tmp_path: Path) -> None:
    log = tmp_path / "app.log"
    log.write_text("one\ntwo\n")
    files = Files([str(log)])
    read(files)
    os.truncate(log, 0)
    with log.open("a") as opened:
        opened.write("new\n")
    read(files)
    assert text(files) == [("app.log", "one\ntwo\n\nnew\n")]
    assert "truncated" in files.sources[0].notes[0]


def test_what_is_no_text_is_passed_over_in_a_folder(tmp_path: Path) -> None:
    (tmp_path / "model.ckpt").write_bytes(bytes(range(256)) * 10)
    (tmp_path / "job.log").write_text("one\n")
    files = Files([str(tmp_path)])
    assert [read(files), read(files)] == [4, 0]
    assert read(Files([str(tmp_path / "model.ckpt")])) == 2560


def test_more_files_than_are_kept_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follow, "OPEN", 2)
    files = Files([str(tmp_path)])
    for turn in range(3):
        for n in range(5):
            with (tmp_path / f"{n}.log").open("a") as opened:
                opened.write(f"{turn}\n")
        read(files)
    assert text(files) == [(f"{n}.log", "0\n1\n2\n") for n in range(5)]


def test_thousands_that_appear_at_once_are_read(tmp_path: Path) -> None:
    for n in range(follow.OPEN + 200):
        (tmp_path / f"{n}.log").write_text("x\n")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (follow.OPEN + 100, hard))
    try:
        files = Files([f"{tmp_path}/*.log"])
        assert (read(files), files.refused) == (2 * (follow.OPEN + 200), {})
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_files_that_are_not_held_open_are_opened_as_often_as_folders_are_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follow, "OPEN", 1)
    logs = [tmp_path / "a.log", tmp_path / "b.log"]
    for log in logs:
        log.write_text("one\n")
    files = Files([str(tmp_path)])
    assert read(files) == 8
    for log in logs:
        with log.open("a") as opened:
            opened.write("two\n")
    files._next = math.inf
    assert [files.read(), files.read()] == [4, 0]
    files._next = 0
    assert files.read() == 4


def test_another_file_at_the_path_of_one_that_is_not_open_is_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follow, "OPEN", 0)
    log = tmp_path / "app.log"
    log.write_text("one\n")
    files = Files([str(log)])
    read(files)
    (tmp_path / "new").write_text("three and more\n")
    (tmp_path / "new").rename(log)
    assert files._turn(closed=True) == 0
    read(files)
    assert text(files) == [("app.log", "one\n"), ("app.log", "three and more\n")]


def test_one_file_under_two_names_is_read_once(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("one\n")
    assert read(Files([str(tmp_path), f"{tmp_path}/../{tmp_path.name}/a.log"])) == 4


def test_a_file_that_is_cut_again_and_again_has_one_note(tmp_path: Path) -> None:
    log = tmp_path / "state"
    files = Files([str(log)])
    for n in range(4):
        log.write_text("x" * (10 - n))
        read(files)
    assert [source.notes for source in files.sources] == [
        ["it was truncated 3 times, last to 7 bytes after 8 had been read; reading continued from the start"]
    ]


def test_a_folder_that_cannot_be_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "closed").mkdir(mode=0)
    (tmp_path / "a.log").write_text("one\n")
    listed = os.scandir

    def scandir(path: str) -> Any:  # noqa: ANN401  (root may read everything)
        if path.endswith("closed"):
            raise PermissionError(13, "Permission denied", path)
        return listed(path)

    monkeypatch.setattr(os, "scandir", scandir)
    files = Files([str(tmp_path)])
    assert (read(files), files.refused) == (4, {f"{tmp_path}/closed": "Permission denied"})


def test_what_ncdiag_prints_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "job.log").write_text("one\n")
    (tmp_path / "report").write_text("two\n")
    saved = os.dup(1)
    try:
        with (tmp_path / "printed").open("w") as opened:
            opened.write("three\n")
            opened.flush()
            os.dup2(opened.fileno(), 1)
            assert read(Files([str(tmp_path)], but=[str(tmp_path / "report"), "/nonexistent"])) == 4
    finally:
        os.dup2(saved, 1)
        os.close(saved)


def test_what_does_not_exist_is_refused_where_it_has_to() -> None:
    with pytest.raises(InputError, match="No such file"):
        Files(["/nonexistent/x.log"], must_exist=True)


@forks
def test_a_copy_of_the_process_changes_nothing_here() -> None:
    growing = Growing("x", keeps=0)
    growing.feed(b"a" * 100 + b"\nb\n")
    for _ in range(2):
        answer = Judging(lambda: str(growing.reading().lines).encode()).result(wait=True)
        assert answer == b"2"
    growing.feed(b"c\n")
    assert growing.reading().lines == 3


@forks
def test_a_copy_that_fails_gives_nothing() -> None:
    assert Judging(lambda: bytes(1 // 0)).result(wait=True) == b""


def test_silence_is_told_once_until_something_comes() -> None:
    now = [0.0]
    progress = Progress(10, lambda: now[0])
    told = []
    for second in range(40):
        now[0] = float(second)
        if second == 25:
            progress.seen()
        if progress.is_stuck():
            told.append(second)
        assert progress.is_told == (10 <= second < 25 or second >= 35)
    assert told == [10, 35]
    assert not Progress(0, lambda: 1e9).is_stuck()
    assert not Progress(math.nan).is_stuck()
